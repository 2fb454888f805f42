package browse

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/highlight"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// style is how text is set off: with the 16 colours, and without any.
type style struct{ color, plain string }

var (
	bold       = style{"1", "1"}
	faint      = style{"2", "2"}
	marked     = style{"1;30;43", "7"}     // a match
	markedHere = style{"1;30;46", "1;4;7"} // one that was gone to
	selected   = style{"1;7", "1;7"}
	code       = style{"36", ""}
	user       = style{"1;32", "1"}
	assistant  = style{"1;36", "1"}
	tool       = style{"33", ""}
	other      = style{"1;35", "1"}
	alert      = style{"1;31", "1"}
)

// codeStyle is the style of what code is made of. Without colours it has none: what
// it tells is told by the code.
var codeStyle = [...]style{
	highlight.Plain: {}, highlight.Comment: {"2", ""}, highlight.String: {"32", ""}, highlight.Keyword: {"35", ""},
	highlight.Number: {"33", ""}, highlight.Name: {"36", ""}, highlight.Added: {"32", ""}, highlight.Removed: {"31", ""},
}

func (m *model) paint(s style, text string) string {
	how := s.plain
	if m.o.Color {
		how = s.color
	}
	if how == "" || text == "" {
		return text
	}
	return "\x1b[" + how + "m" + text + "\x1b[0m"
}

func roleStyle(role string) style {
	switch role {
	case "user":
		return user
	case "assistant":
		return assistant
	case "tool":
		return tool
	}
	return other
}

// pad cuts or fills harmless text to a width.
func pad(s string, width int) string {
	s = term.Cut(s, width)
	return s + strings.Repeat(" ", max(0, width-term.Width(s)))
}

// piece is a piece of a line in its style, painted is all of them.
type (
	piece struct {
		style style
		text  string
	}
	painted []piece
)

// take takes the first n bytes away.
func (p *painted) take(n int) (out painted) {
	for n > 0 && len(*p) > 0 {
		first := &(*p)[0]
		size := min(n, len(first.text))
		out = append(out, piece{first.style, first.text[:size]})
		n -= size
		if first.text = first.text[size:]; first.text == "" {
			*p = (*p)[1:]
		}
	}
	return out
}

func (p painted) width() int {
	text := ""
	for _, q := range p {
		text += q.text
	}
	return term.Width(text)
}

// marked is the same with matches marked.
func (p painted) marked(marks []mark) (out painted) {
	at := 0
	for _, k := range marks {
		out = append(out, p.take(k.start-at)...)
		match := ""
		for _, q := range p.take(k.end - k.start) {
			match += q.text
		}
		out = append(out, piece{marked, match})
		at = k.end
	}
	return append(out, p...)
}

// draw paints pieces, the matches of a line that was gone to as such.
func (m *model) draw(p painted, here bool) string {
	var b strings.Builder
	for _, q := range p {
		if here && q.style == marked {
			q.style = markedHere
		}
		b.WriteString(m.paint(q.style, q.text))
	}
	return b.String()
}

// The marks that a snippet has around a match.
const (
	matchBegins = ">>>"
	matchEnds   = "<<<"
)

// unmarked is a snippet without its marks.
func unmarked(snippet string) string {
	return strings.NewReplacer(matchBegins, "", matchEnds, "").Replace(snippet)
}
