package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// claudeResponse is an answer of the model, as far as its blocks came.
type claudeResponse struct {
	id, key   string
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
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Content              json.RawMessage
	Source               struct {
		MediaType string `json:"media_type"`
		Data      string
	}
}

// blocks reads content: a string or a list of blocks.
func blocks(content json.RawMessage) (list []claudeBlock) {
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return nil
	}
	if content[0] == '"' {
		var b claudeBlock
		b.Type = "text"
		_ = json.Unmarshal(content, &b.Text) // it is a string
		return []claudeBlock{b}
	}
	_ = json.Unmarshal(content, &list) // as far as it can be read
	return list
}

// plain is what a block that is no text shows in its place: pictures and files
// stay where they are.
func (b *claudeBlock) plain() string {
	switch {
	case b.Type == "text":
		return b.Text
	case b.Source.Data != "":
		return fmt.Sprintf("[%s: %s, %d bytes]", b.Type, b.Source.MediaType, len(b.Source.Data)/4*3)
	case len(b.Content) > 0 && b.Content[0] == '"' || b.Type == "tool_result":
		return joined(blocks(b.Content))
	}
	return "[" + b.Type + "]"
}

func joined(list []claudeBlock) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].plain()
	}
	return strings.Join(texts, "\n")
}

// stopReasons are those that other programs name otherwise.
var stopReasons = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}

// assistant adds a line to the answer it belongs to.
func (c *claude) assistant(s *claudeSession, l *claudeLine, key string) error {
	var m claudeMessage
	if err := decode(l.Message, &m); err != nil {
		return fmt.Errorf("it has no message")
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
	for _, b := range blocks(m.Content) {
		r.block(s, &b)
	}
	if m.Model == "<synthetic>" { // the program itself tells of an error
		return nil
	}
	if m.Model != "" {
		s.is.Model = &m.Model
	}
	if m.Usage != nil && (l.SessionID == c.main || l.sidechain() || l.SessionID == "") {
		c.usage(s, m.ID, key, *m.Usage)
	}
	return nil
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
		r.said = append(r.said, b.plain())
	}
}

// usage counts what an answer used, once for all its lines: the last that came
// is right.
func (c *claude) usage(s *claudeSession, id, key string, u claudeUsage) {
	if id == "" {
		id = key
	}
	now := sessiondb.Tokens{Input: max(0, u.Input), Output: max(0, u.Output), CacheRead: max(0, u.CacheRead), CacheWrite: max(0, u.CacheWrite)}
	before, known := c.used[id]
	if !known {
		s.is.APICallCount++
	}
	c.used[id] = now
	t := &s.is.Usage
	t.Input += now.Input - before.Input
	t.Output += now.Output - before.Output
	t.CacheRead += now.CacheRead - before.CacheRead
	t.CacheWrite += now.CacheWrite - before.CacheWrite
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
	c.put(s, r.line, r.key, r.message)
}

// user makes messages of a line: the results of tools, each its own, and what
// was said. What the program put in by itself is told as its own.
func (c *claude) user(s *claudeSession, l *claudeLine, key string) error {
	var m claudeMessage
	if err := decode(l.Message, &m); err != nil {
		return fmt.Errorf("it has no message")
	}
	c.close(s)
	var said []claudeBlock
	at, n := parseTime(l.Timestamp), 0
	for _, b := range blocks(m.Content) {
		if b.Type != "tool_result" {
			said = append(said, b)
			continue
		}
		c.put(s, c.in.n, key+"#"+strconv.Itoa(n), sessiondb.Message{
			Role: "tool", Content: sessiondb.Text(joined(blocks(b.Content))), ToolCallID: stringOrNil(b.ToolUseID),
			ToolName: stringOrNil(s.tool[b.ToolUseID]), Timestamp: at,
		})
		n++
	}
	if len(said) == 0 {
		return nil
	}
	role := "user"
	if l.IsMeta {
		role = "system"
	}
	c.put(s, c.in.n, key, sessiondb.Message{Role: role, Content: sessiondb.Text(joined(said)), Timestamp: at})
	return nil
}
