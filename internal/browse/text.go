package browse

import (
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// place is one of the texts of a message.
type place struct {
	message int64
	part    int
}

// The texts of a message, in the order in which they stand. Each call of a tool is
// one.
const (
	headPart = iota
	reasoningPart
	contentPart
	callPart
	noPart = 1 << 30 // the space behind them
)

// partOf is a text of a message.
func partOf(msg sessiondb.Message, part int) string {
	switch part {
	case headPart:
		return strings.TrimSpace(msg.Role + " " + deref(msg.ToolName))
	case reasoningPart:
		return "reasoning: " + deref(msg.Reasoning)
	case contentPart:
		return transcript.Text(msg.Content)
	case noPart:
		return ""
	}
	return "→ " + transcript.Call(msg.ToolCallList()[part-callPart])
}

// line is one line of the pane.
type line struct {
	place
	shown  painted
	at     int            // where in the text it begins
	match  int            // where in the text the first match is that begins in the line, -1 where none does
	hidden sessiondb.Span // what of the text is not shown here
	folded bool           // until the message is unfolded
}

// rest reports whether a line only says that there is more of a text.
func (l line) rest() bool { return l.hidden.End > 0 && !l.folded }

// above reports whether a rest is what stands before the text that is shown.
func (l line) above() bool { return l.hidden.Start == 0 }

// before reports whether a line of the same message stands where another one does,
// or before it.
func (l line) before(o line) bool { return l.part < o.part || l.part == o.part && l.at <= o.at }

// message is a message as lines of a width.
func (m *model) message(msg sessiondb.Message, width int) []line {
	t := &m.text
	unfolded := m.unfolded || t.whole[msg.ID]
	s := &sheet{width: width}
	s.head(msg, t.terms)
	if m.unfolded && deref(msg.Reasoning) != "" {
		t.write(s.of(msg, reasoningPart), partOf(msg, reasoningPart), s.faint)
	}
	content := partOf(msg, contentPart)
	switch s.of(msg, contentPart); {
	case content == "":
	case msg.Role == "tool" && !unfolded:
		s.folded(content, t.terms)
	case msg.Role == "tool":
		t.write(s, content, s.plain)
	default:
		t.write(s, content, s.prose)
	}
	for i := range msg.ToolCallList() {
		call := partOf(msg, callPart+i)
		if s.of(msg, callPart+i); unfolded {
			t.write(s, call, s.faint)
		} else {
			s.folded(call, t.terms)
		}
	}
	if msg.ID == t.hit && t.snippet.text != "" && !s.matches() {
		s.quote(t.snippet)
	}
	s.of(msg, noPart)
	return append(s.lines, line{place: s.place, match: -1})
}

// write lays out what is shown of a text.
func (t *transcriptPane) write(s *sheet, text string, how func([]textLine)) {
	w := sessiondb.Span{End: len(text)}
	if len(text) > maxText {
		if _, ok := t.windows[s.place]; !ok {
			t.windows[s.place] = windowAt(text, 0)
		}
		w = t.windows[s.place]
	}
	if w.Start > 0 {
		s.more(sessiondb.Span{End: w.Start}, "above")
		if s.part == contentPart {
			how = s.plain // whether code goes on here is not known
		}
	}
	how(linesOf(text, w, t.matches(s.place, text, w)))
	if w.End < len(text) {
		s.more(sessiondb.Span{Start: w.End, End: len(text)}, "below")
	}
}

// sheet is where the texts of a message become lines of a width.
type sheet struct {
	place
	width int
	lines []line
}

// of begins a text.
func (s *sheet) of(msg sessiondb.Message, part int) *sheet {
	s.place = place{msg.ID, part}
	return s
}

func (s *sheet) matches() bool {
	for _, l := range s.lines {
		if l.match >= 0 {
			return true
		}
	}
	return false
}

// head is who speaks. The name of a tool can be found.
func (s *sheet) head(msg sessiondb.Message, terms sessiondb.Terms) {
	var marks []sessiondb.Span
	head := partOf(msg, headPart)
	if name := deref(msg.ToolName); strings.HasSuffix(head, name) {
		for _, at := range terms.Find(name) {
			marks = append(marks, sessiondb.Span{Start: len(head) - len(name) + at.Start, End: len(head) - len(name) + at.End})
		}
	}
	l := lineOf(oneLine(head), 0, marks)
	s.of(msg, headPart).put(l, l.cut(s.width, roleStyle(msg.Role)), 0, len(l.text))
}

// put adds a line that shows bytes of a line of text.
func (s *sheet) put(l textLine, shown painted, from, to int) {
	s.lines = append(s.lines, line{place: s.place, shown: shown, at: l.at + from, match: l.firstMatch(from, to)})
}

// more says that there is more of a text.
func (s *sheet) more(hidden sessiondb.Span, where string) {
	text := fmt.Sprintf("… %s more %s", term.Bytes(int64(hidden.End-hidden.Start)), where)
	s.lines = append(s.lines, line{
		place: s.place, shown: painted{{faint, term.Cut(text, s.width)}}, at: hidden.Start, match: -1, hidden: hidden,
	})
}

// foldedText is how much of a folded text is looked at: more than a line has room for.
const foldedText = 2 << 10

// folded is the first line of a text, and how much more there is.
func (s *sheet) folded(text string, terms sessiondb.Terms) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	more := ""
	if n := strings.Count(rest, "\n"); rest != "" && s.part == contentPart {
		more = fmt.Sprintf(" … %s more", plural(int64(n)+1, "line"))
	} else if rest != "" {
		first += " " + rest[:boundary(rest, foldedText)]
	}
	first = oneLine(first[:boundary(first, foldedText)])
	l := lineOf(first, 0, terms.Find(first))
	shown := append(l.cut(max(1, s.width-term.Width(more)), faint), piece{faint, term.Cut(more, s.width-1)})
	s.lines = append(s.lines, line{
		place: s.place, shown: shown, match: -1, hidden: sessiondb.Span{End: len(text)}, folded: true,
	})
}

// quote shows a snippet behind the head, where nothing else of the message shows what
// was found: it may be the name of an argument of a tool.
func (s *sheet) quote(snippet textLine) {
	q := &sheet{place: s.place, width: s.width}
	q.place.part = headPart
	q.wrap(snippet, painted{{faint, snippet.text}})
	s.lines = append(append(s.lines[:1:1], q.lines...), s.lines[1:]...)
}

// plain wraps text as it is, faint does so with less weight.
func (s *sheet) plain(text []textLine) { s.wrapAll(text, style{}) }
func (s *sheet) faint(text []textLine) { s.wrapAll(text, faint) }

func (s *sheet) wrapAll(text []textLine, how style) {
	for _, l := range text {
		s.wrap(l, painted{{how, l.text}})
	}
}

// prose is plain with code in fences set off.
func (s *sheet) prose(text []textLine) {
	for len(text) > 0 {
		l := text[0]
		text = text[1:]
		f, ok := fenceOf(l.text)
		if !ok {
			s.wrap(l, painted{{style{}, l.text}})
			continue
		}
		n, closed := f.code(text)
		s.wrap(l, painted{{code, l.text}})
		s.code(f, text[:n])
		if text = text[n:]; closed {
			s.wrap(text[0], painted{{code, text[0].text}})
			text = text[1:]
		}
	}
}

// wrap breaks a line, which has its colours.
func (s *sheet) wrap(l textLine, p painted) {
	p = p.marked(l.marks)
	at := 0
	for _, part := range term.Wrap(l.text, s.width) {
		for !strings.HasPrefix(l.text[at:], part) { // a space where it was broken
			at++
			p.take(1)
		}
		shown := p.take(len(part))
		if cut := term.Cut(part, s.width); cut != part { // one character is too wide
			shown = painted{{style{}, cut}}
		}
		s.put(l, shown, at, at+len(part))
		at += len(part)
	}
}
