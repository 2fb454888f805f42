package htmlview

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var style string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"stamp": stamp, "machine": machine}).Parse(pageText))
})

// Page writes sessions as one page of HTML that needs no other file, no network
// and no script. Close ends it.
type Page struct {
	W     io.Writer
	begun bool
}

// Begin implements [transcript.Writer].
func (p *Page) Begin(s sessiondb.Session, kind sessiondb.Kind) error {
	title := s.ID
	if s.Title != nil && strings.TrimSpace(*s.Title) != "" {
		title = *s.Title
	}
	if err := p.open(title); err != nil {
		return err
	}
	return p.write("session", map[string]any{"Session": s, "Title": title, "Kind": string(kind)})
}

// open begins the page, which has the title of its first session.
func (p *Page) open(title string) error {
	if p.begun {
		return nil
	}
	p.begun = true
	return p.write("head", map[string]any{"Title": title, "Style": template.CSS(style)}) // #nosec G203 -- it is ours
}

// Message implements [transcript.Writer].
func (p *Page) Message(m sessiondb.Message) error { return p.write("message", view(m)) }

// End implements [transcript.Writer].
func (p *Page) End() error { return p.write("end", nil) }

// Close ends the page. One without a session says so.
func (p *Page) Close() error {
	if !p.begun {
		if err := p.open("sessiondb"); err != nil {
			return err
		}
		if err := p.write("none", nil); err != nil {
			return err
		}
	}
	return p.write("foot", nil)
}

func (p *Page) write(part string, data any) error {
	return pageTemplate().ExecuteTemplate(p.W, part, data)
}

// message is what is shown of one.
type message struct {
	sessiondb.Message
	Class string // of role
	Body  template.HTML
	Tool  string // the name of the tool that answered
	Calls []call
}

type call struct {
	Name string
	Text string
}

// view prepares a message. What tools answered is folded.
func view(m sessiondb.Message) message {
	v := message{Message: m, Class: "other"}
	switch m.Role {
	case "user", "assistant", "tool", "system":
		v.Class = m.Role
	}
	text := transcript.Text(m.Content)
	switch {
	case text == "":
	case m.Role == "user", m.Role == "assistant":
		v.Body = Markdown(text)
	default:
		v.Body = Plain(text)
	}
	if m.Role == "tool" {
		v.Tool = "tool"
		if m.ToolName != nil {
			v.Tool = cmp.Or(*m.ToolName, v.Tool)
		}
	}
	for _, raw := range m.ToolCallList() {
		v.Calls = append(v.Calls, callOf(raw))
	}
	return v
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

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }
