package browse

import (
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// textLine is a line of a text, made harmless to a terminal.
type textLine struct {
	text  string
	at    int // where it begins in the text
	marks []mark
}

// mark is a match in a line.
type mark struct {
	start, end int
	from       int // where it begins in the text, which may be in a line before
}

// linesOf are the lines of a part of a text, and where they have its matches.
func linesOf(text string, part sessiondb.Span, matches []sessiondb.Span) (out []textLine) {
	at := part.Start
	for raw := range strings.SplitSeq(strings.TrimRight(text[part.Start:part.End], "\r\n"), "\n") {
		for len(matches) > 0 && matches[0].End <= at {
			matches = matches[1:]
		}
		out = append(out, lineOf(strings.TrimSuffix(raw, "\r"), at, matches))
		at += len(raw) + 1
	}
	return out
}

// lineOf makes a line harmless that begins somewhere in a text, of which matches are
// known. What is shown of a character may be longer than it.
func lineOf(raw string, at int, matches []sessiondb.Span) textLine {
	var b strings.Builder
	l := textLine{at: at}
	pos := 0
	for _, found := range matches {
		from, to := max(found.Start-at, pos), min(found.End-at, len(raw))
		if found.Start-at >= len(raw) {
			break
		}
		if from >= to {
			continue
		}
		b.WriteString(harmless(raw[pos:from]))
		start := b.Len()
		b.WriteString(harmless(raw[from:to]))
		l.marks = append(l.marks, mark{start, b.Len(), found.Start})
		pos = to
	}
	b.WriteString(harmless(raw[pos:]))
	l.text = b.String()
	return l
}

func harmless(text string) string { return strings.ReplaceAll(term.Safe(text), "\t", "    ") }

// oneLine has spaces in the place of tabs and line breaks; nothing else moves.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)
}

// firstMatch is where the first match begins in the text that begins between two
// bytes of the line, or -1.
func (l textLine) firstMatch(from, to int) int {
	for _, k := range l.marks {
		if k.start >= from && k.start < to && k.from >= l.at {
			return k.from
		}
	}
	return -1
}

// cut is the line in one style, cut to a width.
func (l textLine) cut(width int, how style) painted {
	p := painted{{how, l.text}}.marked(l.marks)
	shown := term.Cut(l.text, width)
	if shown == l.text {
		return p
	}
	whole, ok := strings.CutSuffix(shown, "…")
	p = p.take(len(whole))
	if ok {
		p = append(p, piece{how, "…"})
	}
	return p
}

// onMatch is the line from shortly before its first match, where that does not fit a
// width.
func (l textLine) onMatch(width int) textLine {
	if len(l.marks) == 0 || term.Width(l.text[:l.marks[0].end]) < width {
		return l
	}
	match := l.marks[0].start
	begin := match
	for begin > 0 {
		_, n := utf8.DecodeLastRuneInString(l.text[:begin])
		if term.Width(l.text[begin-n:match]) > width/4 {
			break
		}
		begin -= n
	}
	if i := strings.IndexByte(l.text[begin:match], ' '); i >= 0 {
		begin += i + 1
	}
	const sign = "…"
	out := textLine{text: sign + l.text[begin:], at: l.at}
	for _, k := range l.marks {
		out.marks = append(out.marks, mark{k.start - begin + len(sign), k.end - begin + len(sign), k.from})
	}
	return out
}

const (
	maxText   = 32 << 10 // how much of a text is laid out at first
	maxWindow = 1 << 20  // how much at once, however far one reads
)

// boundary is a place near pos and not behind it where a text can be cut: the
// beginning of a line, else of a word, else of a character.
func boundary(text string, pos int) int {
	if pos <= 0 || pos >= len(text) {
		return max(0, min(pos, len(text)))
	}
	near := text[max(0, pos-2<<10):pos]
	for _, end := range "\n " {
		if i := strings.LastIndex(near, string(end)); i >= 0 {
			return pos - len(near) + i + 1
		}
	}
	for pos > 0 && !utf8.RuneStart(text[pos]) {
		pos--
	}
	return pos
}

// windowAt is the part of a long text that is shown for something in it.
func windowAt(text string, at int) sessiondb.Span {
	start := 0
	if at >= maxText*3/4 {
		start = boundary(text, at-maxText/4)
	}
	return sessiondb.Span{Start: start, End: boundary(text, start+maxText)}
}

// widened is a window with more below, or above. It becomes twice as large, up to a
// size from which on it moves.
func widened(w sessiondb.Span, text string, by int) sessiondb.Span {
	step := max(maxText, min(w.End-w.Start, maxWindow/2))
	if by > 0 {
		end := boundary(text, w.End+step)
		return sessiondb.Span{Start: boundary(text, max(w.Start, end-maxWindow)), End: end}
	}
	start := boundary(text, w.Start-step)
	return sessiondb.Span{Start: start, End: boundary(text, min(w.End, start+maxWindow))}
}
