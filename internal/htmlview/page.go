package htmlview

import (
	_ "embed"
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

// MessageStyle is the style of messages and the colours of a page. It knows light
// and dark.
//
//go:embed message.css
var MessageStyle string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"stamp": stamp, "machine": machine}).Parse(pageText))
})

// Page writes sessions as one page of HTML that needs no other file, no network
// and no script. Close ends it.
type Page struct {
	W     io.Writer
	begun bool
}

var _ transcript.Writer = (*Page)(nil)

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
	return p.write("head", map[string]any{"Title": title, "Style": template.CSS(MessageStyle + style)}) // #nosec G203 -- it is ours
}

// Message implements [transcript.Writer].
func (p *Page) Message(m sessiondb.Message) error { return WriteMessage(p.W, m, MessageOptions{}) }

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

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }
