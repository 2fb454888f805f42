package browse

import (
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/highlight"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// style is how text is set off: with the 16 colours, and without any.
type style struct{ color, plain string }

var (
	bold      = style{"1", "1"}
	faint     = style{"2", "2"}
	marked    = style{"1;30;43", "7"} // a match
	selected  = style{"1;7", "1;7"}
	code      = style{"36", ""}
	user      = style{"1;32", "1"}
	assistant = style{"1;36", "1"}
	tool      = style{"33", ""}
	other     = style{"1;35", "1"}
	alert     = style{"1;31", "1"}
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

// mark paints what of a line is one of the words, whatever its case; the rest
// is painted in the style of the line.
func (m *model) mark(line string, words []string, rest style) string {
	return m.markIn(line, painted{{rest, line}}, words)
}

// markIn is mark for a line of several styles.
func (m *model) markIn(line string, p painted, words []string) string {
	var b strings.Builder
	from := 0
	rest := func(to int) {
		for _, q := range p.take(to - from) {
			b.WriteString(m.paint(q.style, q.text))
		}
	}
	for at := 0; at < len(line); {
		n := matchAt(line[at:], words)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(line[at:])
			at += size
			continue
		}
		rest(at)
		p.take(n)
		b.WriteString(m.paint(marked, line[at:at+n]))
		at += n
		from = at
	}
	rest(len(line))
	return b.String()
}

// matchAt is the length of the longest of the words that s begins with.
func matchAt(s string, words []string) (longest int) {
	for _, w := range words {
		end := 0
		for range utf8.RuneCountInString(w) {
			_, n := utf8.DecodeRuneInString(s[end:])
			end += n
		}
		if end > longest && strings.EqualFold(s[:end], w) {
			longest = end
		}
	}
	return longest
}

// The marks that a snippet has around a match.
const (
	matchBegins = ">>>"
	matchEnds   = "<<<"
)

// snippetWords are the words that a snippet marks.
func snippetWords(snippet string) (words []string) {
	for {
		_, after, ok := strings.Cut(snippet, matchBegins)
		word, rest, closed := strings.Cut(after, matchEnds)
		if !ok || !closed {
			return words
		}
		if word = strings.TrimSpace(term.Line(word)); word != "" {
			words = append(words, word)
		}
		snippet = rest
	}
}

// unmarked is a snippet without its marks.
func unmarked(snippet string) string {
	return strings.NewReplacer(matchBegins, "", matchEnds, "").Replace(snippet)
}
