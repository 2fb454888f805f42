package htmlview

import (
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// marker marks in a message what was searched for. The n-th match of message ID gets
// the id "m-ID-n".
type marker struct {
	terms   sessiondb.Terms
	message int64
	n       int
}

// piece is an element's tag, or text between two, as HTML and as it is read. A tag
// sets words apart, since what stands for it in Markdown does, but for the colours of
// code.
type piece struct {
	html, text string
	tag        bool
}

// next cuts the first piece off HTML of ours: no text and no attribute holds an angle
// bracket.
func next(h string) (p piece, rest string) {
	switch entity := entities.FindString(h); {
	case h[0] == '<':
		end := strings.IndexByte(h, '>') + 1
		if end == 0 {
			end = len(h)
		}
		p = piece{h[:end], " ", true}
		if strings.HasPrefix(p.html, "<span") || strings.HasPrefix(p.html, "</span") {
			p.text = ""
		}
	case entity != "":
		p = piece{html: entity, text: html.UnescapeString(entity)}
	default:
		end := strings.IndexAny(h[1:], "<&") + 1
		if end == 0 {
			end = len(h)
		}
		p = piece{html: h[:end], text: h[:end]}
	}
	return p, h[len(p.html):]
}

var entities = regexp.MustCompile(`^&#?[A-Za-z0-9]+;`)

// html marks the matches in HTML as it is read, also where an element begins or ends
// in one.
func (k *marker) html(h template.HTML) template.HTML {
	if k.terms.None() {
		return h
	}
	var text strings.Builder
	for rest := string(h); rest != ""; {
		var p piece
		p, rest = next(rest)
		text.WriteString(p.text)
	}
	w := markWriter{marker: k, spans: k.terms.Find(text.String())}
	if len(w.spans) == 0 {
		return h
	}
	for rest := string(h); rest != ""; {
		var p piece
		p, rest = next(rest)
		w.put(p)
	}
	w.end()
	return template.HTML(w.out.String()) // #nosec G203 -- it adds nothing but marks
}

// plain is a text with its matches marked.
func (k *marker) plain(s string) template.HTML {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return k.as(s, s)
}

// json is plain for JSON: an escape in it is no part of a word.
func (k *marker) json(s string) template.HTML {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return k.as(s, escapes.ReplaceAllStringFunc(s, func(e string) string { return strings.Repeat(" ", len(e)) }))
}

var escapes = regexp.MustCompile(`\\+(?:u00[0-7][0-9a-f]|[nrtbf"/])?`)

// as marks in a text what another one of the same length has at the same place.
func (k *marker) as(s, read string) template.HTML {
	w := markWriter{marker: k, spans: k.terms.Find(read)}
	w.write(s, template.HTMLEscapeString)
	w.end()
	return template.HTML(w.out.String()) // #nosec G203 -- it is escaped
}

// markWriter writes a text whose matches are known.
type markWriter struct {
	*marker
	spans []sessiondb.Span // those that are not over
	at    int              // how much of the text is written
	open  bool
	begun bool // a part of the first of the spans is written
	out   strings.Builder
}

// put writes a piece. No mark goes over a tag.
func (w *markWriter) put(p piece) {
	if p.tag {
		w.end()
		w.out.WriteString(p.html)
		w.pass(len(p.text))
		return
	}
	if p.html != p.text { // all of it goes with its beginning
		w.write(p.text, func(string) (html string) {
			html, p.html = p.html, ""
			return html
		})
		return
	}
	w.write(p.text, func(s string) string { return s })
}

// write writes text, each part of it as HTML.
func (w *markWriter) write(s string, as func(string) string) {
	for s != "" {
		n := len(s)
		inside := len(w.spans) > 0 && w.spans[0].Start <= w.at
		switch {
		case inside:
			n = min(n, w.spans[0].End-w.at)
		case len(w.spans) > 0:
			n = min(n, w.spans[0].Start-w.at)
		}
		if inside {
			w.begin()
		} else {
			w.end()
		}
		w.out.WriteString(as(s[:n]))
		s = s[n:]
		w.pass(n)
	}
}

// pass goes on in the text.
func (w *markWriter) pass(n int) {
	w.at += n
	for len(w.spans) > 0 && w.spans[0].End <= w.at {
		w.spans, w.begun = w.spans[1:], false
		w.end()
	}
}

func (w *markWriter) begin() {
	switch {
	case w.open:
		return
	case w.begun:
		w.out.WriteString("<mark>")
	default:
		w.n++
		_, _ = fmt.Fprintf(&w.out, `<mark id="m-%d-%d">`, w.message, w.n)
	}
	w.open, w.begun = true, true
}

func (w *markWriter) end() {
	if w.open {
		w.out.WriteString("</mark>")
		w.open = false
	}
}
