package corpus

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// writer makes the texts of one corpus. All it makes follows from the seed of
// the message, so that messages can be made in any order.
type writer struct {
	r    *rand.Rand
	zipf map[*vocabulary]*rand.Zipf
}

func newWriter() *writer {
	w := &writer{r: rand.New(rand.NewSource(0)), zipf: map[*vocabulary]*rand.Zipf{}}
	for _, v := range []*vocabulary{&english, &korean, &chinese, &japanese, &thai} {
		w.zipf[v] = rand.NewZipf(w.r, 1.08, 4, uint64(len(v.words)-1))
	}
	return w
}

// text makes about n words on a topic.
func (w *writer) text(v *vocabulary, topic []string, n int) string {
	var b strings.Builder
	b.Grow(n * 8)
	about := w.r.Intn(100) < 30
	for i := range n {
		if i > 0 {
			if w.r.Intn(12) == 0 {
				b.WriteString(v.end)
			} else {
				b.WriteString(v.sep)
			}
		}
		if about && w.r.Intn(14) == 0 {
			b.WriteString(w.onTopic(v, topic))
			continue
		}
		b.WriteString(v.words[w.zipf[v].Uint64()])
	}
	return b.String()
}

// onTopic picks a word of the topic, in the script of the language if it can.
func (w *writer) onTopic(v *vocabulary, topic []string) string {
	latin := v == &english
	for range 6 {
		word := topic[w.r.Intn(len(topic))]
		if (word[0] < 0x80) == latin {
			return word
		}
	}
	return topic[0]
}

// Message is one row to be; empty fields are NULL.
type Message struct {
	Role, Content, ToolCallID, ToolCalls, ToolName, FinishReason, Reasoning string
}

// Stored is the message as a program appends it.
func (m Message) Stored() sessiondb.Message {
	out := sessiondb.Message{Role: m.Role, ToolCallID: some(m.ToolCallID), ToolName: some(m.ToolName), FinishReason: some(m.FinishReason), Reasoning: some(m.Reasoning)}
	if parts, ok := strings.CutPrefix(m.Content, "\x00json:"); ok {
		out.Content = sessiondb.Structured(json.RawMessage(parts))
	} else if m.Content != "" {
		out.Content = sessiondb.Text(m.Content)
	}
	if m.ToolCalls != "" {
		out.ToolCalls = json.RawMessage(m.ToolCalls)
	}
	return out
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

var tools = []string{"terminal", "read_file", "write_file", "web_search", "delegate_task", "session_search", "execute_code"}

// message makes message i of a session.
func (w *writer) message(s *session, i int) Message {
	w.r.Seed(s.seed + int64(i)*7919)
	switch phase := i % 4; {
	case i == 0 || phase == 0:
		return w.user(s)
	case phase == 1 && s.tools:
		return w.call(s, i)
	case phase == 2 && s.tools:
		return Message{Role: "tool", Content: w.text(&english, s.topic, 10+w.r.Intn(60)), ToolCallID: callID(i - 1), ToolName: tools[(s.index+i-1)%len(tools)]}
	}
	m := Message{Role: "assistant", Content: w.text(s.lang, s.topic, 15+w.r.Intn(50)), FinishReason: "stop"}
	if w.r.Intn(8) == 0 {
		m.Reasoning = w.text(&english, s.topic, 20)
	}
	return m
}

func (w *writer) user(s *session) Message {
	text := w.text(s.lang, s.topic, 4+w.r.Intn(24))
	if w.r.Intn(50) > 0 {
		return Message{Role: "user", Content: text}
	}
	parts, _ := json.Marshal([]map[string]any{
		{"type": "text", "text": text},
		{"type": "image_url", "image_url": map[string]string{"url": "data:image/png;base64,iVBORw0KGgo="}},
	})
	return Message{Role: "user", Content: "\x00json:" + string(parts)}
}

func (w *writer) call(s *session, i int) Message {
	args, _ := json.Marshal(map[string]string{
		"command": w.text(&english, s.topic, 6), "path": fmt.Sprintf("src/%s/%s.go", s.topic[0], english.words[200+w.r.Intn(2000)]),
	})
	calls, _ := json.Marshal([]map[string]any{{
		"id": callID(i), "type": "function",
		"function": map[string]string{"name": tools[(s.index+i)%len(tools)], "arguments": string(args)},
	}})
	return Message{Role: "assistant", ToolCalls: string(calls), FinishReason: "tool_calls"}
}

func callID(i int) string { return fmt.Sprintf("call_%d", i) }

// Messages makes n messages in the manner of the corpus, for appending.
func Messages(seed int64, n int) []Message {
	w := newWriter()
	langs := []*vocabulary{&english, &english, &korean, &chinese, &japanese}
	out := make([]Message, n)
	for i := range out {
		k := i / 20
		out[i] = w.message(&session{index: k, seed: seed + int64(k)*104729, lang: langs[k%len(langs)], topic: topics[k%len(topics)], tools: k%3 != 0}, i%20)
	}
	return out
}
