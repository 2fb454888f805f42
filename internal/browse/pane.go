package browse

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
)

// transcriptPane is the part of a conversation on the right.
type transcriptPane struct {
	opened
	session     string // whose messages are shown
	terms       sessiondb.Terms
	snippet     textLine // of the hit
	ms          []sessiondb.Message
	first, last bool // the session begins, ends with what is loaded
	loading     bool
	err         error

	whole   map[int64]bool             // messages that are shown unfolded
	windows map[place]sessiondb.Span   // what is shown of long texts
	found   map[place][]sessiondb.Span // the matches in long texts

	lines []line
	top   int
	here  int  // the line of the match that was gone to, -1 for none
	stale bool // lines are to be made anew
}

// opened is what a transcript was opened for.
type opened struct {
	in    string // a session
	hit   int64  // one of its messages; 0 where there is none
	query string
}

// takePassage shows what was read of a conversation.
func (m *model) takePassage(p passage) tea.Cmd {
	if p.gen != m.textGen || stale(p.err) {
		return nil
	}
	t := &m.text
	var cmd tea.Cmd
	if errors.Is(p.err, sessiondb.ErrConnection) {
		cmd = m.lost(p.err)
	}
	switch {
	case p.where == 0:
		*t = p.pane
		t.err = p.err
		m.layOut()
		m.goToHit(p.by)
		return cmd
	case p.session != t.session: // another one was opened meanwhile
		return cmd
	}
	t.loading = false
	if p.err != nil {
		t.err = p.err
		return cmd
	}
	if p.where > 0 {
		t.ms = append(t.ms, p.ms...)
		t.last = t.last || p.all
	} else {
		t.ms = append(p.ms, t.ms...)
		t.first = t.first || p.all
	}
	m.layOut()
	return cmd
}

// lookThrough makes the pane of a passage that takes the place of what was shown. To
// find the matches of a long text takes a while.
func (p *passage) lookThrough() {
	t := transcriptPane{
		opened: p.opened, session: p.session, terms: p.terms, snippet: p.snippet, ms: p.ms, first: p.anchor == 0, here: -1,
		whole: map[int64]bool{p.anchor: true}, windows: map[place]sessiondb.Span{}, found: map[place][]sessiondb.Span{},
	}
	for _, msg := range p.ms {
		if msg.ID == p.anchor {
			t.findAll(msg, p.by)
		}
	}
	p.pane = t
}

// goToHit shows the message that the transcript was opened at, and in it the first
// match, or where that was looked for from behind, the last.
func (m *model) goToHit(by int) {
	t := &m.text
	head, match := -1, -1
	for i, l := range t.lines {
		if !t.whole[l.message] {
			continue
		}
		if head < 0 {
			head = i
		}
		if l.match >= 0 && (match < 0 || by < 0) {
			match = i
		}
	}
	if t.here = match; head >= 0 {
		t.top = m.inPane(head - 2)
	}
	if match >= t.top+m.bodyHeight()*3/4 {
		t.top = m.inPane(match - m.bodyHeight()/3)
	}
}

// inPane is the nearest line that can be on top of the pane.
func (m *model) inPane(top int) int {
	return max(0, min(top, len(m.text.lines)-m.bodyHeight()))
}

// scroll moves the transcript, and reads on near its ends.
func (m *model) scroll(by int) tea.Cmd {
	t := &m.text
	m.layOutStale()
	t.top = m.inPane(t.top + by)
	m.unroll(by)
	switch {
	case by > 0 && t.top+2*m.bodyHeight() >= len(t.lines):
		return m.more(1)
	case by < 0 && t.top < m.bodyHeight():
		return m.more(-1)
	}
	return nil
}

// unroll shows more of a long text whose end, or beginning, is near the screen.
func (m *model) unroll(by int) {
	t := &m.text
	height := m.bodyHeight()
	for _, l := range t.lines[max(0, t.top-height):min(len(t.lines), t.top+2*height)] {
		if !l.rest() || l.above() != (by < 0) {
			continue
		}
		t.windows[l.place] = widened(t.windows[l.place], t.text(l.place), by)
		m.layOut()
		return
	}
}

func (m *model) layOutStale() {
	if m.text.stale {
		m.layOut()
	}
}

// layOut makes the lines of the transcript for the width of the pane. What is on top
// of it stays there.
func (m *model) layOut() {
	_, width := m.columns()
	t := &m.text
	top, here := t.line(t.top), t.line(t.here)
	for i := t.top; top.rest(); i++ {
		top = t.line(i)
	}
	t.stale = false
	t.lines, t.here = nil, -1
	at := 0
	for _, msg := range t.ms {
		for _, l := range m.message(msg, max(1, width)) {
			if l.message == top.message && l.before(top) && !l.rest() {
				at = len(t.lines)
			}
			if l.match >= 0 && l.place == here.place && l.match == here.match {
				t.here = len(t.lines)
			}
			t.lines = append(t.lines, l)
		}
	}
	t.top = m.inPane(at)
}

// line is a line of the transcript, or one of none.
func (t *transcriptPane) line(i int) line {
	if i < 0 || i >= len(t.lines) {
		return line{match: -1}
	}
	return t.lines[i]
}
