package browse

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// transcriptPane is the part of a conversation on the right.
type transcriptPane struct {
	session     string
	anchor      int64 // the hit
	query       string
	words       []string // that are marked
	ms          []sessiondb.Message
	first, last bool // the conversation begins, ends with what is loaded
	loading     bool
	err         error

	lines []line
	top   int
	stale bool // lines are to be made anew
}

// line is one line of the screen and the message that it belongs to.
type line struct {
	shown   string
	message int64
}

// takePassage shows what was read of a conversation.
func (m *model) takePassage(p passage) tea.Cmd {
	if p.gen != m.textGen || stale(p.err) {
		return nil
	}
	t := &m.text
	t.loading = false
	var cmd tea.Cmd
	if errors.Is(p.err, sessiondb.ErrConnection) {
		cmd = m.lost(p.err)
	}
	if p.where == 0 {
		words, query := t.words, t.query
		*t = transcriptPane{session: p.session, anchor: p.anchor, query: query, words: words, ms: p.ms, err: p.err}
		t.first = p.anchor == 0
		m.layOut()
		m.goTo(p.anchor, 2)
		return cmd
	}
	if p.err != nil {
		t.err = p.err
		return cmd
	}
	if p.where > 0 {
		t.ms = append(t.ms, p.ms...)
		t.last = t.last || p.all
		m.layOut()
		return nil
	}
	t.first = t.first || p.all
	var at int64
	if t.top < len(t.lines) {
		at = t.lines[t.top].message
	}
	t.ms = append(p.ms, t.ms...)
	m.layOut()
	m.goTo(at, 0)
	return nil
}

// goTo scrolls to a message, with some lines above it; the end of what is
// loaded stays at the bottom.
func (m *model) goTo(message int64, above int) {
	t := &m.text
	t.top = 0
	for i, l := range t.lines {
		if message != 0 && l.message == message {
			t.top = max(0, min(i-above, len(t.lines)-m.bodyHeight()))
			return
		}
	}
}

// scroll moves the transcript, and reads on near its ends.
func (m *model) scroll(by int) tea.Cmd {
	t := &m.text
	m.layOutStale()
	t.top = max(0, min(t.top+by, len(t.lines)-m.bodyHeight()))
	switch {
	case by > 0 && t.top+2*m.bodyHeight() >= len(t.lines):
		return m.more(1)
	case by < 0 && t.top < m.bodyHeight():
		return m.more(-1)
	}
	return nil
}

func (m *model) layOutStale() {
	if m.text.stale {
		var at int64
		if m.text.top < len(m.text.lines) {
			at = m.text.lines[m.text.top].message
		}
		m.layOut()
		m.goTo(at, 0)
	}
}

// layOut makes the lines of the transcript for the width of the pane.
func (m *model) layOut() {
	_, width := m.columns()
	t := &m.text
	t.stale = false
	t.lines = t.lines[:0]
	for _, msg := range t.ms {
		for _, l := range m.message(msg, max(1, width)) {
			t.lines = append(t.lines, line{l, msg.ID})
		}
	}
}

// maxText is how much of a text is laid out: more of it nobody reads here.
const maxText = 32 << 10

// message is a message as lines of a width.
func (m *model) message(msg sessiondb.Message, width int) (out []string) {
	head := msg.Role
	if msg.ToolName != nil {
		head += " " + *msg.ToolName
	}
	out = append(out, m.paint(roleStyle(msg.Role), term.Cut(term.Line(head), width)))
	if m.unfolded && deref(msg.Reasoning) != "" {
		out = append(out, m.plain("reasoning: "+*msg.Reasoning, width, faint)...)
	}
	text := transcript.Text(msg.Content)
	switch {
	case text == "":
	case msg.Role == "tool" && !m.unfolded && msg.ID != m.text.anchor:
		out = append(out, m.folded(text, width))
	case msg.Role == "tool":
		out = append(out, m.plain(text, width, style{})...)
	default:
		out = append(out, m.prose(text, width)...)
	}
	for _, c := range msg.ToolCallList() {
		call := "→ " + transcript.Call(c)
		if m.unfolded {
			out = append(out, m.plain(call, width, faint)...)
		} else {
			out = append(out, m.mark(term.Cut(term.Line(capped(call)), width), m.text.words, faint))
		}
	}
	return append(out, "")
}

// folded is the first line of a result, and how much more there is.
func (m *model) folded(text string, width int) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	more := ""
	if n := strings.Count(rest, "\n"); rest != "" {
		more = fmt.Sprintf(" … %s more", plural(int64(n)+1, "line"))
	}
	return m.mark(term.Cut(term.Line(capped(first)), width-term.Width(more)), m.text.words, faint) + m.paint(faint, more)
}

// plain wraps text in one style.
func (m *model) plain(text string, width int, s style) (out []string) {
	for _, l := range lines(text) {
		out = append(out, m.wrap(l, width, painted{{s, l}})...)
	}
	return out
}

// prose is plain with code in fences set off.
func (m *model) prose(text string, width int) (out []string) {
	for rest := lines(text); len(rest) > 0; {
		line := rest[0]
		rest = rest[1:]
		f, ok := fenceOf(line)
		if !ok {
			out = append(out, m.wrap(line, width, painted{{style{}, line}})...)
			continue
		}
		n, closed := f.code(rest)
		out = append(out, m.wrap(line, width, painted{{code, line}})...)
		out = append(out, m.code(f, rest[:n], width)...)
		if rest = rest[n:]; closed {
			out = append(out, m.wrap(rest[0], width, painted{{code, rest[0]}})...)
			rest = rest[1:]
		}
	}
	return out
}

// wrap breaks a line, which has its colours, and marks the words in its parts.
func (m *model) wrap(line string, width int, p painted) (out []string) {
	for _, part := range term.Wrap(line, width) {
		for !strings.HasPrefix(line, part) { // a space where it was broken
			line = line[1:]
			p.take(1)
		}
		line = line[len(part):]
		shown := p.take(len(part))
		if cut := term.Cut(part, width); cut != part { // one character is too wide
			part, shown = cut, painted{{style{}, cut}}
		}
		out = append(out, m.markIn(part, shown, m.text.words))
	}
	return out
}

// lines are the lines of a text, harmless to a terminal, tabs as spaces.
func lines(text string) []string {
	safe := strings.ReplaceAll(term.Safe(capped(text)), "\t", "    ")
	return strings.Split(strings.TrimRight(safe, "\n"), "\n")
}

// capped cuts what is too long to be read here, and says so.
func capped(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n… " + term.Bytes(int64(len(text)-end)) + " more: see sessiondb show"
}
