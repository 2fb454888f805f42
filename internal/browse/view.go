package browse

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

const (
	rowHeight = 2  // lines of a conversation in the list
	twoPanes  = 80 // cells from which list and transcript stand side by side
	prompt    = "search: "
	between   = " │ "
)

// bodyHeight is how many lines are between the search and the two lines below.
func (m *model) bodyHeight() int { return max(1, m.height-3) }

// columns are the widths of list and transcript. Where there is room for one,
// both have all of it.
func (m *model) columns() (list, text int) {
	if m.width < twoPanes {
		if m.focus == inText {
			return 0, m.width
		}
		return m.width, m.width
	}
	list = min(56, m.width*2/5)
	return list, m.width - list - len(" | ")
}

// View is the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "sessiondb"
	v.Cursor = m.cursor()
	return v
}

// cursor stands where what is typed goes.
func (m *model) cursor() *tea.Cursor {
	switch {
	case m.dialog == renaming || m.dialog == tagging || m.dialog == exporting:
		return tea.NewCursor(min(m.width-1, term.Width(m.question())), m.height-2)
	case m.dialog == none && m.focus == inField:
		return tea.NewCursor(min(m.width-1, term.Width(prompt+m.shownQuery())), 0)
	}
	return nil
}

// shownQuery is the end of the query, as much as there is room for.
func (m *model) shownQuery() string {
	return tail(term.Line(m.query), m.width-len(prompt)-1)
}

// tail is the end of a line that fits a width.
func tail(line string, width int) string {
	runes := []rune(line)
	for len(runes) > 0 && term.Width(string(runes)) > width {
		runes = runes[1:]
	}
	return string(runes)
}

// screen are the lines of the screen.
func (m *model) screen() []string {
	m.layOutStale()
	out := []string{m.field()}
	out = append(out, m.body()...)
	if told := term.Wrap(term.Line(m.told()), m.width); len(told) > 1 && m.question() == "" {
		told[1] = term.Cut(strings.Join(told[1:], " "), m.width) // the keys can wait
		return append(out, m.paint(alert, told[0]), m.paint(alert, told[1]))
	}
	return append(out, m.status(), m.hints(m.width))
}

func (m *model) field() string {
	if m.focus == inField {
		return m.paint(bold, term.Cut(prompt, m.width)) + m.shownQuery()
	}
	return m.paint(faint, term.Cut(prompt+m.shownQuery(), m.width))
}

func (m *model) body() []string {
	switch m.dialog {
	case helping:
		lines := m.help(m.width)
		m.helpTop = max(0, min(m.helpTop, len(lines)-m.bodyHeight()))
		return fit(lines, m.helpTop, m.bodyHeight())
	case inTree:
		m.nodeTop = max(0, min(m.nodeTop, m.node), m.node-m.bodyHeight()+1)
		return fit(m.treeLines(m.width), m.nodeTop, m.bodyHeight())
	}
	height := m.bodyHeight()
	listWidth, _ := m.columns()
	if m.width < twoPanes {
		if m.focus == inText {
			return m.textLines(height)
		}
		return m.listLines(listWidth, height)
	}
	left, right := m.listLines(listWidth, height), m.textLines(height)
	for i := range left {
		left[i] += m.paint(faint, between) + right[i]
	}
	return left
}

// fit is a screenful of lines.
func fit(lines []string, top, height int) []string {
	out := make([]string, height)
	copy(out, lines[min(top, len(lines)):])
	return out
}

func (m *model) textLines(height int) []string {
	t := &m.text
	switch {
	case t.err != nil:
		return fit([]string{m.paint(alert, term.Cut(term.Line(t.err.Error()), m.width/2))}, 0, height)
	case len(t.ms) == 0 && t.session != "" && len(m.rows) > 0:
		return fit([]string{m.paint(faint, "no messages")}, 0, height)
	case len(m.rows) == 0:
		return make([]string, height)
	}
	out := make([]string, height)
	for i := range out {
		if at := t.top + i; at < len(t.lines) {
			out[i] = m.draw(t.lines[at].shown, at == t.here)
		}
	}
	return out
}

func (m *model) listLines(width, height int) []string {
	var lines []string
	for i := m.top; i < len(m.rows) && len(lines) < height; i++ {
		lines = append(lines, m.row(m.rows[i], i == m.at, width)...)
	}
	if len(m.rows) == 0 {
		lines = append(lines, m.nothing(width))
	}
	out := fit(lines, 0, height)
	for i := range out {
		if out[i] == "" {
			out[i] = strings.Repeat(" ", width)
		}
	}
	return out
}

// nothing says why the list is empty.
func (m *model) nothing(width int) string {
	switch {
	case m.busy || m.unread:
		return pad("", width)
	case m.asked() != "":
		return pad("nothing found", width)
	}
	return pad("there are no sessions in this store yet", width)
}

// row is a conversation in the list: its title, and below what it is or what
// was found in it.
func (m *model) row(r row, current bool, width int) []string {
	title := r.title
	if strings.TrimSpace(title) == "" {
		title = r.preview
	}
	if strings.TrimSpace(title) == "" {
		title = r.id
	}
	title = pad(" "+term.Line(title), width-1)
	if current {
		title = m.paint(selected, "▸"+title)
	} else {
		title = m.paint(bold, " "+title)
	}
	about := []string{term.Ago(m.o.Now(), r.at), r.source}
	switch {
	case r.hits > 1:
		about = append(about, plural(r.hits, "hit"))
	case r.hits == 0:
		about = append(about, plural(r.messages, "message"))
	}
	if len(r.tags) > 0 {
		about = append(about, transcript.Tags(r.tags))
	}
	below := "  " + term.Line(strings.Join(about, " · "))
	if r.snippet.text == "" {
		return []string{title, m.paint(faint, pad(below, width))}
	}
	below = term.Cut("  "+term.Ago(m.o.Now(), r.at)+" · ", width)
	room := width - term.Width(below)
	shown := r.snippet.onMatch(room).cut(room, faint)
	return []string{title, m.paint(faint, below) + m.draw(shown, false) + strings.Repeat(" ", max(0, room-shown.width()))}
}

// question is what a dialog asks.
func (m *model) question() string {
	switch m.dialog {
	case renaming:
		return tail("new title (enter sets it, esc keeps the old): "+term.Line(m.input), m.width-1)
	case tagging:
		return tail("tags, with spaces between (enter sets them, esc keeps the old): "+term.Line(m.input), m.width-1)
	case exporting:
		return tail("export to (.jsonl, .md or .html; enter writes, esc does not): "+term.Line(m.input), m.width-1)
	case deleting:
		name := m.input
		if name == "" {
			name = m.subject
		}
		const ask = "? y/N"
		return term.Cut("delete the whole conversation "+term.Line(name), m.width-len(ask)) + ask
	}
	return ""
}

// status is the line above the keys: a question, what happened, or how much
// there is.
func (m *model) status() string {
	if q := m.question(); q != "" {
		return m.paint(bold, q)
	}
	note := term.Line(m.told())
	if note == "" {
		note = m.position()
	}
	return m.paint(faint, term.Cut(note, m.width))
}

// told is what there is to say: what happened, or that the server is away.
func (m *model) told() string {
	if m.note == "" && m.away != nil {
		text := m.away.Error()
		return text[max(0, strings.Index(text, sessiondb.ErrConnection.Error())):] + "; trying again" // whatever was asked
	}
	return m.note
}

func (m *model) position() string {
	switch {
	case m.dialog == helping:
		return ""
	case m.dialog == inTree:
		return "● root  ↓ continuation  ├ branch  · delegate"
	case len(m.waiting) > 0:
		return "searching… what you pressed waits for the answer; esc cancels it"
	case m.busy && m.asked() != "":
		return "searching…"
	case len(m.rows) == 0:
		return ""
	}
	more := ""
	if !m.whole {
		more = "+"
	}
	r, _ := m.current()
	place := fmt.Sprintf("%d of %d%s · %s", m.at+1, len(m.rows), more, r.id)
	if len(r.tags) > 0 {
		place += " · " + term.Line(transcript.Tags(r.tags))
	}
	return place
}
