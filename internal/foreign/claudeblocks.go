package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// claudeResponse is an answer of the model, as far as its blocks came.
type claudeResponse struct {
	id, key   string
	also      []string // keys of its further lines
	line      int64
	said      []string
	reasoning []string
	calls     []json.RawMessage
	message   sessiondb.Message
}

// claudeMessage is the message of a line.
type claudeMessage struct {
	ID, Model  string
	StopReason string `json:"stop_reason"`
	Content    json.RawMessage
	Usage      *claudeUsage
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// claudeBlock is a part of the content.
type claudeBlock struct {
	Type, Text, Thinking string
	ID, Name             string
	Title, URL           string // of what a search found
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Content              json.RawMessage
	Source               struct {
		MediaType string `json:"media_type"`
		Data, URL string
	}
}

// UnmarshalJSON reads a block. What is none is text, as it is.
func (b *claudeBlock) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '{':
		type plain claudeBlock
		_ = decode(raw, (*plain)(b)) // as far as it can be read
		if b.Type == "" {
			b.Type, b.Text = "text", cmp.Or(b.Text, string(raw))
		}
		return nil
	case '"':
		b.Type = "text"
		return json.Unmarshal(raw, &b.Text)
	}
	if b.Type = "text"; !nothing(raw) {
		b.Text = string(raw)
	}
	return nil
}

var errNoContent = errors.New("its content is no text and no list of blocks")

// blocks reads content: a string, a list of blocks, or one block.
func blocks(content json.RawMessage) (list []claudeBlock, err error) {
	if nothing(content) {
		return nil, errNoContent
	}
	switch content[0] {
	case '[':
		return list, json.Unmarshal(content, &list)
	case '"', '{':
		list = make([]claudeBlock, 1)
		err = list[0].UnmarshalJSON(content)
		if content[0] == '"' || list[0].Text != string(content) {
			return list, err
		}
	}
	return nil, errNoContent
}

// inner is what the content of a block shows. What is no content shows as it is.
func inner(content json.RawMessage, depth int) string {
	if nothing(content) {
		return ""
	}
	list, err := blocks(content)
	if err != nil || depth > maxDepth {
		return string(content)
	}
	return joined(list, depth)
}

// maxDepth is how deep content stands in content. Who nests it deeper wants to keep us
// busy: each level is read again.
const maxDepth = 4

// plain is what a block that is no text shows in its place: pictures and files
// stay where they are, what was searched for is told by title and address.
func (b *claudeBlock) plain(depth int) string {
	switch {
	case b.Type == "text":
		return b.Text
	case b.Source.Data != "":
		return mark(b.Type, b.Source.MediaType, b.Source.Data)
	case b.Source.URL != "":
		return "[" + b.Type + ": " + b.Source.URL + "]"
	case b.URL != "":
		return strings.TrimSpace(b.Title + " <" + b.URL + ">")
	case len(b.Content) > 0:
		return inner(b.Content, depth+1)
	case b.Type == "tool_result":
		return ""
	}
	return "[" + b.Type + "]"
}

func joined(list []claudeBlock, depth int) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].plain(depth)
	}
	return strings.Join(texts, "\n")
}

// stopReasons are those that other programs name otherwise.
var stopReasons = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}

// assistant adds a line to the answer it belongs to.
func (c *claude) assistant(s *claudeSession, l *claudeLine, key string) error {
	m, list, err := l.message()
	if err != nil {
		return err
	}
	if s.open != nil && s.open.id == m.ID && m.ID != "" {
		s.open.also = append(s.open.also, key)
	}
	if s.open == nil || s.open.id != m.ID || m.ID == "" {
		c.close(s)
		s.open = &claudeResponse{id: m.ID, key: key, line: c.in.n, message: sessiondb.Message{Role: "assistant", Timestamp: parseTime(l.Timestamp)}}
	}
	r := s.open
	if m.StopReason != "" {
		reason := m.StopReason
		if known := stopReasons[reason]; known != "" {
			reason = known
		}
		r.message.FinishReason = &reason
	}
	for i := range list {
		r.block(s, &list[i])
	}
	if m.Model == "<synthetic>" { // the program itself tells of an error
		return nil
	}
	if m.Model != "" {
		s.is.Model = &m.Model
	}
	if m.Usage != nil {
		s.use(m.ID, cmp.Or(l.RequestID, l.Timestamp, key), *m.Usage)
	}
	return nil
}

// message reads the message of a line, and its content.
func (l *claudeLine) message() (m claudeMessage, list []claudeBlock, err error) {
	if err := decode(l.Message, &m); err != nil || nothing(l.Message) {
		return m, nil, errors.New("it has no message")
	}
	list, err = blocks(m.Content)
	return m, list, err
}

func (r *claudeResponse) block(s *claudeSession, b *claudeBlock) {
	switch b.Type {
	case "thinking":
		if b.Thinking != "" {
			r.reasoning = append(r.reasoning, b.Thinking)
		}
	case "redacted_thinking":
	case "tool_use", "server_tool_use", "mcp_tool_use":
		input := string(b.Input)
		if input == "" {
			input = "{}"
		}
		s.tool[b.ID] = b.Name
		r.calls = append(r.calls, toolCall(b.ID, b.Name, input))
	default:
		r.said = append(r.said, b.plain(0))
	}
}

// use notes what an answer used, once for all its lines: the last that came is right.
// Some programs between give the same ids again and again, so that the request, or when
// it was answered, is part of what tells it from others.
func (s *claudeSession) use(id, request string, u claudeUsage) {
	now := sessiondb.Tokens{Input: max(0, u.Input), Output: max(0, u.Output), CacheRead: max(0, u.CacheRead), CacheWrite: max(0, u.CacheWrite)}
	if at, ok := s.used[id]; ok && id != "" {
		s.is.Uses[at].Tokens = now
		return
	}
	s.used[id] = len(s.is.Uses)
	s.is.Uses = append(s.is.Uses, sessiondb.TranscriptUse{Keys: []string{string(ClaudeCode) + " " + id + " " + request}, Tokens: now})
}

// close ends the answer under way.
func (c *claude) close(s *claudeSession) {
	r := s.open
	if r == nil {
		return
	}
	s.open = nil
	if len(r.said) > 0 {
		r.message.Content = sessiondb.Text(strings.Join(r.said, "\n"))
	}
	if len(r.reasoning) > 0 {
		r.message.Reasoning = stringOrNil(strings.Join(r.reasoning, "\n\n"))
	}
	r.message.ToolCalls = list(r.calls)
	c.put(s, r.line, r.key, r.message, r.also...)
}

// user makes messages of a line: the results of tools, each its own, and what
// was said. What the program put in by itself is told as its own.
func (c *claude) user(s *claudeSession, l *claudeLine, key string) error {
	_, list, err := l.message()
	if err != nil {
		return err
	}
	c.close(s)
	said := list[:0:0]
	for _, b := range list {
		if b.Type != "tool_result" {
			said = append(said, b)
		}
	}
	at, n := parseTime(l.Timestamp), 0
	for _, b := range list {
		if b.Type != "tool_result" {
			continue
		}
		var also []string
		if n == 0 && len(said) == 0 {
			also = []string{key}
		}
		c.put(s, c.in.n, key+"#"+strconv.Itoa(n), sessiondb.Message{
			Role: "tool", Content: sessiondb.Text(inner(b.Content, 0)), ToolCallID: stringOrNil(b.ToolUseID),
			ToolName: stringOrNil(s.tool[b.ToolUseID]), Timestamp: at,
		}, also...)
		n++
	}
	if len(said) == 0 {
		return nil
	}
	role := "user"
	if l.IsMeta {
		role = "system"
	}
	c.put(s, c.in.n, key, sessiondb.Message{Role: role, Content: sessiondb.Text(joined(said, 0)), Timestamp: at})
	return nil
}

// claudeAttachment is what stands beside the conversation. Only what a person typed
// while the model was at work, and what the program queued so, is said in it.
type claudeAttachment struct {
	Type        string
	Prompt      json.RawMessage
	CommandMode string
	Origin      struct{ Kind string }
}

// queued makes a message of what was queued.
func (c *claude) queued(s *claudeSession, l *claudeLine, key string) error {
	a := &l.Attachment
	list, err := blocks(a.Prompt)
	if err != nil {
		return err
	}
	role := "user"
	if l.IsMeta || a.CommandMode == "task-notification" || a.Origin.Kind != "" && a.Origin.Kind != "human" {
		role = "system"
	}
	c.close(s)
	c.put(s, c.in.n, key, sessiondb.Message{Role: role, Content: sessiondb.Text(joined(list, 0)), Timestamp: parseTime(l.Timestamp)})
	return nil
}

// system keeps what the program told: that it compacted the conversation, that
// a call failed.
func (c *claude) system(s *claudeSession, l *claudeLine, key string) error {
	list, err := blocks(l.Content)
	if err != nil {
		return err
	}
	c.close(s)
	c.put(s, c.in.n, key, sessiondb.Message{Role: "system", Content: sessiondb.Text(joined(list, 0)), Timestamp: parseTime(l.Timestamp)})
	return nil
}
