package browse

import (
	"context"
	"errors"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
)

// matches are those in a text, of which a part is shown. All of a long text are looked
// for only where somebody goes from one to the next.
func (t *transcriptPane) matches(at place, text string, shown sessiondb.Span) []sessiondb.Span {
	if at.part == reasoningPart || t.terms.None() { // no search looks there
		return nil
	}
	if all, ok := t.found[at]; ok {
		return all
	}
	found := t.terms.Find(text[shown.Start:shown.End])
	for i := range found {
		found[i].Start += shown.Start
		found[i].End += shown.Start
	}
	return found
}

// allMatches are those in the whole of a text.
func (t *transcriptPane) allMatches(at place, text string) []sessiondb.Span {
	if _, ok := t.found[at]; !ok {
		t.found[at] = t.matches(at, text, sessiondb.Span{End: len(text)})
	}
	return t.found[at]
}

// findAll finds the matches of a message, and shows of its long texts where the first
// is, or the last.
func (t *transcriptPane) findAll(msg sessiondb.Message, by int) {
	for part := contentPart; part < callPart+len(msg.ToolCallList()); part++ {
		at, text := place{msg.ID, part}, partOf(msg, part)
		if len(text) <= maxText {
			continue
		}
		if found := t.allMatches(at, text); len(found) > 0 {
			first := found[0]
			if by < 0 {
				first = found[len(found)-1]
			}
			t.windows[at] = windowAt(text, first.Start)
		}
	}
}

// text is a text of a message that is loaded.
func (t *transcriptPane) text(at place) string {
	for _, msg := range t.ms {
		if msg.ID == at.message {
			return partOf(msg, at.part)
		}
	}
	return ""
}

// goToMatch goes to the next match, or the one before, from the one that was gone to,
// or from what is on the screen. It unfolds what hides one.
func (m *model) goToMatch(by int) tea.Cmd {
	t := &m.text
	if t.terms.None() {
		m.note = "nothing is searched for in messages: type words to search for"
		return nil
	}
	m.layOutStale()
	from := t.here
	if from < t.top || from >= t.top+m.bodyHeight() {
		if from = t.top - 1; by < 0 {
			from = t.top
		}
	}
	for i := from + by; i >= 0 && i < len(t.lines); i += by {
		l := t.lines[i]
		if l.hidden.End > 0 {
			if at, ok := t.hiddenMatch(l, by); ok {
				m.uncover(l.place, at)
				return nil
			}
		} else if l.match >= 0 {
			m.comeTo(i)
			return nil
		}
	}
	return m.seek(by)
}

// hiddenMatch is the first match, or the last, of what a line does not show.
func (t *transcriptPane) hiddenMatch(l line, by int) (at int, ok bool) {
	found := t.allMatches(l.place, t.text(l.place))
	if by < 0 {
		found = slices.Clone(found)
		slices.Reverse(found)
	}
	for _, f := range found {
		if f.Start >= l.hidden.Start && f.Start < l.hidden.End {
			return f.Start, true
		}
	}
	return 0, false
}

// uncover shows a match that was hidden.
func (m *model) uncover(where place, match int) {
	t := &m.text
	t.whole[where.message] = true
	if text := t.text(where); len(text) > maxText {
		t.windows[where] = windowAt(text, match)
	}
	m.layOut()
	at := -1
	for i, l := range t.lines {
		if l.place == where && l.match >= 0 && l.match <= match {
			at = i
		}
	}
	if at >= 0 {
		m.comeTo(at)
	}
}

// comeTo shows the line of a match.
func (m *model) comeTo(i int) {
	t := &m.text
	if t.here = i; i < t.top || i >= t.top+m.bodyHeight() {
		t.top = m.inPane(i - m.bodyHeight()/3)
	}
}

// sought is where another match is, which was looked for beyond what is loaded.
type sought struct{ passage }

// seek looks for the next match in the rest of the conversation.
func (m *model) seek(by int) tea.Cmd {
	t := &m.text
	if t.opened != m.want || len(t.ms) == 0 {
		return nil // what is to be shown is still being read
	}
	ctx, out := m.read(), sought{passage{opened: t.opened, terms: t.terms, by: by, gen: m.textGen}}
	s := seeker{m: m, terms: t.terms}
	session, from := t.session, t.ms[len(t.ms)-1].ID
	if by < 0 {
		from = t.ms[0].ID
	}
	m.note = "looking for another match…"
	return func() tea.Msg {
		out.err = m.textReads.do(ctx, func() (err error) {
			if out.session, out.anchor, err = s.find(ctx, session, from, by); err != nil || out.anchor == 0 {
				return err
			}
			return out.around(ctx, m.o.DB)
		})
		out.lookThrough()
		return out
	}
}

// takeSought goes to the match that was found.
func (m *model) takeSought(s sought) tea.Cmd {
	switch {
	case s.gen != m.textGen || stale(s.err):
		return nil
	case errors.Is(s.err, sessiondb.ErrConnection):
		m.note = ""
		return m.lost(s.err)
	case s.err != nil:
		m.note = s.err.Error()
		return nil
	case s.anchor != 0:
		m.note = ""
		return m.takePassage(s.passage)
	}
	if m.note = "no match after this one in the conversation"; s.by < 0 {
		m.note = "no match before this one in the conversation"
	}
	return nil
}

// seeker looks for messages with a match.
type seeker struct {
	m     *model
	terms sessiondb.Terms
}

// find returns the next message of a conversation that has a match, 0 where none has.
func (s seeker) find(ctx context.Context, session string, from int64, by int) (in string, id int64, err error) {
	chain, err := s.m.o.DB.Chain(ctx, session)
	if err != nil {
		return "", 0, err
	}
	if by < 0 {
		slices.Reverse(chain)
	}
	for _, in := range chain[max(0, slices.Index(chain, session)):] {
		if by > 0 {
			id, err = s.after(ctx, in, from)
			from = 0
		} else {
			id, err = s.before(ctx, in, from)
			from = math.MaxInt64
		}
		if err != nil || id != 0 {
			return in, id, err
		}
	}
	return "", 0, nil
}

// seekPage is how many messages are read at once to look for a match.
const seekPage = 200

func (s seeker) after(ctx context.Context, session string, id int64) (int64, error) {
	for {
		ms, err := s.m.o.DB.MessagesAfter(ctx, session, id, seekPage)
		if err != nil || len(ms) == 0 {
			return 0, err
		}
		for _, msg := range ms {
			if id = msg.ID; s.in(msg) {
				return id, nil
			}
		}
	}
}

func (s seeker) before(ctx context.Context, session string, id int64) (last int64, err error) {
	for at := int64(0); ; {
		ms, err := s.m.o.DB.MessagesAfter(ctx, session, at, seekPage)
		if err != nil || len(ms) == 0 {
			return last, err
		}
		for _, msg := range ms {
			if at = msg.ID; at >= id {
				return last, nil
			}
			if s.in(msg) {
				last = at
			}
		}
	}
}

// in reports whether a message has a match.
func (s seeker) in(msg sessiondb.Message) bool {
	if len(s.terms.Find(deref(msg.ToolName))) > 0 {
		return true
	}
	for part := contentPart; part < callPart+len(msg.ToolCallList()); part++ {
		if len(s.terms.Find(partOf(msg, part))) > 0 {
			return true
		}
	}
	return false
}
