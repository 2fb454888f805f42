package htmlview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// MessageOptions shape WriteMessage. The zero value shows all of a message and
// links to its place on the page.
type MessageOptions struct {
	// Link is where the time of the message leads.
	Link string
	// Max is how many bytes are shown of each text, 0 for all; Whole is where
	// all of it is.
	Max   int
	Whole string
}

// WriteMessage writes a message as a section with the id "m-ID". Reasoning, tool
// calls and what tools answered are folded.
func WriteMessage(w io.Writer, m sessiondb.Message, o MessageOptions) error {
	return pageTemplate().ExecuteTemplate(w, "message", view(m, o))
}

// message is what is shown of one.
type message struct {
	sessiondb.Message
	Class     string // of role
	Link      string
	Reasoning string
	Body      template.HTML
	Tool      string // the name of the tool that answered
	Calls     []call
	Whole     string // where the rest is, if not all is shown
	Size      string // of all of it
}

type call struct {
	Name string
	Text string
}

// view prepares a message. What tools answered is folded.
func view(m sessiondb.Message, o MessageOptions) message {
	v := message{Message: m, Class: "other", Link: cmp.Or(o.Link, fmt.Sprintf("#m-%d", m.ID))}
	switch m.Role {
	case "user", "assistant", "tool", "system":
		v.Class = m.Role
	}
	c := cutter{max: o.Max}
	said := c.cut(transcript.Text(m.Content))
	switch {
	case said == "":
	case m.Role == "user", m.Role == "assistant":
		v.Body = Markdown(said)
	default:
		v.Body = Plain(said)
	}
	if m.Reasoning != nil {
		v.Reasoning = c.cut(*m.Reasoning)
	}
	if m.Role == "tool" {
		v.Tool = "tool"
		if m.ToolName != nil {
			v.Tool = cmp.Or(*m.ToolName, v.Tool)
		}
	}
	for _, raw := range m.ToolCallList() {
		one := callOf(raw)
		one.Text = c.cut(one.Text)
		v.Calls = append(v.Calls, one)
	}
	if c.did {
		v.Whole, v.Size = o.Whole, fmt.Sprintf("%d KB", (c.all+1023)/1024)
	}
	return v
}

// cutter shortens texts and remembers whether it did, and how long they all are.
type cutter struct {
	max, all int
	did      bool
}

func (c *cutter) cut(s string) string {
	c.all += len(s)
	if c.max <= 0 || len(s) <= c.max {
		return s
	}
	c.did = true
	return strings.ToValidUTF8(s[:c.max], "") + "…"
}

func callOf(raw json.RawMessage) call {
	name, arguments := transcript.CallParts(raw)
	if name == "" {
		return call{"a tool", string(raw)}
	}
	var pretty strings.Builder
	if b, err := indented(arguments); err == nil {
		pretty.Write(b)
	} else {
		pretty.WriteString(arguments)
	}
	return call{name, pretty.String()}
}

func indented(s string) ([]byte, error) {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, err
	}
	return json.MarshalIndent(v, "", "  ")
}
