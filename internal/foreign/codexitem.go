package foreign

import (
	"encoding/json"
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
	line      int64
	said      string
	reasoning []string
	calls     []json.RawMessage
	message   sessiondb.Message
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
	return nil
}

// answer returns the answer under way. A new one begins where ends says so.
func (c *codex) answer(l *codexLine, key string, ends bool) *codexResponse {
	if ends {
		c.close()
	}
	if c.open == nil {
		c.open = &codexResponse{key: key, line: c.in.n, message: sessiondb.Message{Role: "assistant", Timestamp: parseTime(l.Timestamp)}}
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
		c.add(sessiondb.TranscriptMessage{SessionID: c.is.ID, Key: r.key, Line: r.line, Message: r.message})
	}
}

// codexText joins the text of parts; a picture shows as its type.
func codexText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &parts) // as far as it can be read
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "input_image":
			texts = append(texts, "[image]")
		}
	}
	return strings.Join(texts, "\n")
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
