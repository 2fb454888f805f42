package foreign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// codexItem is an item of a response, or what it was given.
type codexItem struct {
	Type, Role, Name, Arguments string
	ID                          string
	CallID                      string `json:"call_id"`
	Input                       string
	Content, Summary            json.RawMessage
	Action, Output              json.RawMessage
}

// codexResponse is an answer of the model: reasoning, text and calls that stand
// behind each other.
type codexResponse struct {
	key       string
	also      []string // keys of its further lines
	line      int64
	said      string
	reasoning []string
	calls     []json.RawMessage
	message   sessiondb.Message
}

// codexItems are the kinds of items. What there is no case for is bookkeeping, or can't
// be read.
var codexItems = map[string]bool{
	"message": true, "reasoning": true, "function_call": true, "custom_tool_call": true, "local_shell_call": true, "web_search_call": true,
	"function_call_output": true, "custom_tool_call_output": true, "local_shell_call_output": true,
	"ghost_snapshot": true, "compaction": true, "compaction_summary": true, "context_compaction": true, "tool_search_call": true, "tool_search_output": true,
}

func (c *codex) item(raw json.RawMessage, l *codexLine, key string) error {
	var i codexItem
	if err := decode(raw, &i); err != nil {
		return err
	}
	if i.CallID == "" {
		i.CallID = i.ID
	}
	switch i.Type {
	case "message":
		return c.said(&i, l, key)
	case "reasoning":
		c.reasoning(&i, l, key)
	case "function_call":
		c.call(&i, l, key, i.Name, i.Arguments)
	case "custom_tool_call":
		input, _ := json.Marshal(map[string]string{"input": i.Input})
		c.call(&i, l, key, i.Name, string(input))
	case "local_shell_call":
		c.call(&i, l, key, "local_shell", string(i.Action))
	case "web_search_call":
		c.call(&i, l, key, "web_search", string(i.Action))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.close()
		return c.put(key, sessiondb.Message{Role: "tool", Content: sessiondb.Text(codexOutput(i.Output)), ToolCallID: stringOrNil(i.CallID),
			ToolName: stringOrNil(c.tool[i.CallID]), Timestamp: parseTime(l.Timestamp)})
	}
	if !codexItems[i.Type] {
		return unknownKind(fmt.Sprintf("type %.60q", i.Type))
	}
	return nil
}

// answer returns the answer under way. A new one begins where ends says so.
func (c *codex) answer(l *codexLine, key string, ends bool) *codexResponse {
	if ends {
		c.close()
	}
	if c.open == nil {
		c.open = &codexResponse{key: key, line: c.in.n, message: sessiondb.Message{Role: "assistant", Timestamp: parseTime(l.Timestamp)}}
	} else {
		c.open.also = append(c.open.also, key)
	}
	return c.open
}

func (c *codex) reasoning(i *codexItem, l *codexLine, key string) {
	text := codexText(i.Summary)
	if text == "" {
		text = codexText(i.Content)
	}
	if text == "" {
		return // it is encrypted
	}
	r := c.answer(l, key, c.open != nil && (c.open.said != "" || c.open.calls != nil))
	r.reasoning = append(r.reasoning, text)
}

func (c *codex) call(i *codexItem, l *codexLine, key, name, arguments string) {
	if arguments == "" {
		arguments = "{}"
	}
	c.tool[i.CallID] = name
	r := c.answer(l, key, false)
	r.calls = append(r.calls, toolCall(i.CallID, name, arguments))
}

// injected begins what the program, not the person, says as the user.
var injected = []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions", "<turn_aborted>"}

func (c *codex) said(i *codexItem, l *codexLine, key string) error {
	text := codexText(i.Content)
	if i.Role == "assistant" {
		r := c.answer(l, key, c.open != nil && (c.open.said != "" || c.open.calls != nil))
		r.said = text
		return nil
	}
	c.close()
	role := i.Role
	if role == "developer" || role == "" {
		role = "system"
	}
	for _, begin := range injected {
		if role == "user" && strings.HasPrefix(strings.TrimSpace(text), begin) {
			role = "system"
		}
	}
	return c.put(key, sessiondb.Message{Role: role, Content: sessiondb.Text(text), Timestamp: parseTime(l.Timestamp)})
}

// close ends the answer under way.
func (c *codex) close() {
	r := c.open
	if r == nil {
		return
	}
	c.open = nil
	if r.said != "" {
		r.message.Content = sessiondb.Text(r.said)
	}
	if len(r.reasoning) > 0 {
		r.message.Reasoning = stringOrNil(strings.Join(r.reasoning, "\n\n"))
	}
	r.message.ToolCalls = list(r.calls)
	if c.is.ID != "" { // else the next message says so
		c.add(sessiondb.TranscriptMessage{SessionID: c.is.ID, Key: r.key, Also: r.also, Unique: !r.message.Timestamp.IsZero(), Line: r.line, Message: r.message})
	}
}

// codexText joins the text of parts; of a picture a mark is left.
func codexText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Type, Text string
		ImageURL   string `json:"image_url"`
	}
	_ = json.Unmarshal(raw, &parts) // as far as it can be read
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "input_image":
			texts = append(texts, imageMark(p.ImageURL))
		}
	}
	return strings.Join(texts, "\n")
}

// imageMark stands in the place of a picture at an address.
func imageMark(url string) string {
	if mediaType, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); ok && strings.HasPrefix(url, "data:") {
		return mark("image", mediaType, data)
	}
	if url == "" {
		return "[image]"
	}
	return "[image: " + url + "]"
}

// codexOutput is what a tool gave: text, parts, or an object around them.
func codexOutput(raw json.RawMessage) string {
	if text := codexText(raw); text != "" {
		return text
	}
	var o struct{ Content, Output json.RawMessage }
	if json.Unmarshal(raw, &o) == nil {
		for _, inner := range []json.RawMessage{o.Content, o.Output} {
			if text := codexText(inner); text != "" {
				return text
			}
		}
	}
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return ""
}
