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

// MessageOptions shape a message. The zero value shows all of it and links to its
// place on the page.
type MessageOptions struct {
	// Link is where the time of the message leads.
	Link string
	// Max is how many bytes are shown of each text, 0 for all; Whole is where
	// all of it is.
	Max   int
	Whole string
	// Terms are marked, in what a search looks at. What is folded and has a match is
	// open. A text that is cut before its first match is shown from near that on, if it
	// is among the first Deep bytes.
	Terms sessiondb.Terms
	Deep  int
	// Hit says that a search found this message: if nothing in it can be marked, its
	// head is the place of its first match.
	Hit bool
}

// Message is a message that is ready to be written.
type Message struct {
	sessiondb.Message
	Class     string // of role
	Link      string
	Reasoning string
	Body      template.HTML
	Tool      template.HTML // the name of the tool that answered
	Open      bool          // what it answered
	Calls     []call
	Whole     string // where the rest is, if not all is shown
	Size      string // of all of it
	Matches   int    // how many are marked
	Hit       bool   // without one
	Looked    int    // how many bytes were looked through past Max
	// Before and After are where the matches beside those of this message are, empty
	// for nowhere.
	Before, After string
}

type call struct {
	Name, Text template.HTML
	Open       bool
}

// WriteMessage writes a message as Write does.
func WriteMessage(w io.Writer, m sessiondb.Message, o MessageOptions) error {
	return NewMessage(m, o).Write(w)
}

// Write writes a message as a section with the id "m-ID". Reasoning, tool calls and
// what tools answered are folded.
func (v *Message) Write(w io.Writer) error { return pageTemplate().ExecuteTemplate(w, "message", v) }

// NewMessage prepares a message.
func NewMessage(m sessiondb.Message, o MessageOptions) *Message {
	v := &Message{Message: m, Class: "other", Link: cmp.Or(o.Link, fmt.Sprintf("#m-%d", m.ID))}
	switch m.Role {
	case "user", "assistant", "tool", "system":
		v.Class = m.Role
	}
	k := &marker{terms: o.Terms, message: m.ID}
	c := &cutter{max: o.Max, deep: o.Deep, terms: o.Terms}
	if m.Role == "tool" {
		name := "tool"
		if m.ToolName != nil {
			name = cmp.Or(*m.ToolName, name)
		}
		v.Tool = k.plain(name)
	}
	named := k.n
	v.Body = body(m, c, k)
	v.Open = k.n > named
	if m.Reasoning != nil {
		v.Reasoning = c.cut(*m.Reasoning, sessiondb.Terms{})
	}
	for _, raw := range m.ToolCallList() {
		v.Calls = append(v.Calls, callOf(raw, c, k))
	}
	if c.did {
		v.Whole, v.Size = o.Whole, fmt.Sprintf("%d KB", (c.all+1023)/1024)
	}
	v.Matches, v.Hit, v.Looked = k.n, o.Hit && k.n == 0, c.looked
	return v
}

// body is what a message says. Where Markdown has a match that is not read, such as
// the address of a link, the text stands as it was written.
func body(m sessiondb.Message, c *cutter, k *marker) template.HTML {
	said := c.cut(transcript.Text(m.Content), c.terms)
	switch {
	case said == "":
		return ""
	case m.Role != "user" && m.Role != "assistant" || c.inside:
		return k.html(Plain(said))
	}
	before := k.n
	shown := k.html(Markdown(said))
	if k.n == before && len(k.terms.Find(said)) > 0 {
		return k.html(Plain(said))
	}
	return shown
}

// cutter shortens texts and remembers whether it did, and how long they all are.
type cutter struct {
	max, deep, all int
	terms          sessiondb.Terms
	did            bool
	looked         int
	inside         bool // the last one does not begin at its beginning
}

// cut shortens a text to its beginning, or, if no match is there, to what is around the
// first one.
func (c *cutter) cut(s string, terms sessiondb.Terms) string {
	c.all += len(s)
	c.inside = false
	if c.max <= 0 || len(s) <= c.max {
		return s
	}
	c.did = true
	if at := c.match(s, terms); at >= 0 {
		c.inside = true
		s = s[max(0, at-c.max/4):]
		if len(s) <= c.max {
			return "…" + strings.ToValidUTF8(s, "")
		}
		return "…" + strings.ToValidUTF8(s[:c.max], "") + "…"
	}
	return strings.ToValidUTF8(s[:c.max], "") + "…"
}

// match is where the first match in a text is, if nothing of it is shown otherwise; -1 for
// none.
func (c *cutter) match(s string, terms sessiondb.Terms) int {
	deep := min(len(s), c.deep)
	if terms.None() || deep <= c.max || len(terms.Find(s[:c.max])) > 0 {
		return -1
	}
	c.looked += deep - c.max
	c.deep -= deep - c.max
	if found := terms.Find(s[:deep]); len(found) > 0 {
		return found[0].Start
	}
	return -1
}

func callOf(raw json.RawMessage, c *cutter, k *marker) call {
	name, arguments := transcript.CallParts(raw)
	if name == "" {
		name, arguments = "a tool", string(raw)
	} else if b, err := indented(arguments); err == nil {
		arguments = string(b)
	}
	out := call{Name: k.plain(name)}
	named := k.n
	out.Text = k.json(c.cut(arguments, c.terms))
	out.Open = k.n > named
	return out
}

func indented(s string) ([]byte, error) {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, err
	}
	return json.MarshalIndent(v, "", "  ")
}
