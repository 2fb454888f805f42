package browse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
)

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	m.note = ""
	switch m.dialog {
	case helping:
		return m.helpKey(key)
	case inTree:
		return m.treeKey(key)
	case renaming, tagging, exporting:
		return m.inputKey(key, k.Text)
	case deleting:
		m.dialog = none
		if key == "y" || key == "Y" {
			return m.delete()
		}
		m.note = "nothing was deleted"
		return nil
	}
	if key == "?" && m.query == "" { // of no use as a search
		key = "f1"
	}
	if key == "esc" && len(m.waiting) > 0 {
		m.waiting = nil
		return nil
	}
	if b, ok := m.pressed(key); ok {
		return b.do(m)
	}
	if m.focus != inField {
		return nil
	}
	if edited, ok := edit(m.query, key, k.Text); ok && edited != m.query {
		m.query = edited
		return m.requery()
	}
	return nil
}

// edit is what a key makes of a line of text.
func edit(line, key, text string) (string, bool) {
	switch key {
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(line)
		return line[:len(line)-n], true
	case "ctrl+u":
		return "", true
	case "ctrl+w":
		line = strings.TrimRight(line, " ")
		return line[:strings.LastIndexByte(line, ' ')+1], true
	}
	return line + text, text != ""
}

// typed takes text that was pasted.
func (m *model) typed(text string) tea.Cmd {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case m.dialog == renaming || m.dialog == tagging || m.dialog == exporting:
		m.input += text
	case m.dialog == none:
		m.focus = inField
		m.query += text
		return m.requery()
	}
	return nil
}

func (m *model) requery() tea.Cmd {
	m.answered, m.waiting = false, nil
	if _, ok := m.lists(); ok {
		m.rows, m.whole, m.at, m.top = nil, false, 0, 0
	}
	return m.searching()
}

func (m *model) choose(r row) tea.Cmd {
	m.chosen = r.id
	return tea.Quit
}

func (m *model) leave() tea.Cmd {
	if m.focus == inField && m.query != "" {
		m.query = ""
		return m.requery()
	}
	return tea.Quit
}

func (m *model) nextFocus() tea.Cmd {
	m.focus = (m.focus + 1) % 3
	return nil
}

func (m *model) page() int {
	if m.focus == inText {
		return max(1, m.bodyHeight()-2)
	}
	return max(1, m.bodyHeight()/rowHeight-1)
}

// move goes up or down in what has the focus.
func (m *model) move(by int) tea.Cmd {
	if m.focus == inText {
		return m.scroll(by)
	}
	return m.whenAnswered(func() tea.Cmd { return m.choosing(by) })
}

// choosing selects another row.
func (m *model) choosing(by int) tea.Cmd {
	m.at = max(0, min(m.at+by, len(m.rows)-1))
	m.reveal()
	cmd := m.open()
	if f, ok := m.lists(); ok && m.at >= len(m.rows)-pageSize/2 && !m.whole && !m.busy {
		m.busy = true
		return tea.Batch(cmd, m.list(f, len(m.rows)))
	}
	return cmd
}

// reveal scrolls the list so that the selected row is on the screen.
func (m *model) reveal() {
	fit := max(1, m.bodyHeight()/rowHeight)
	m.top = max(0, min(m.top, m.at), m.at-fit+1)
}

func (m *model) fold() tea.Cmd {
	m.unfolded = !m.unfolded
	m.text.stale = true
	return nil
}

func (m *model) copyID(r row) tea.Cmd {
	m.note = "copied " + r.id
	return tea.SetClipboard(r.id)
}

func (m *model) click(at tea.Mouse) tea.Cmd {
	if at.Button == tea.MouseLeft && m.dialog == inTree && at.Y > 0 && at.Y <= m.bodyHeight() {
		m.node = min(m.nodeTop+at.Y-1, len(m.nodes)-1)
	}
	if at.Button != tea.MouseLeft || m.dialog != none {
		return nil
	}
	listWidth, _ := m.columns()
	switch {
	case at.Y == 0:
		m.focus = inField
	case at.Y > m.bodyHeight():
	case at.X < listWidth:
		m.focus = inList
		if i := m.top + (at.Y-1)/rowHeight; i < len(m.rows) && m.answered {
			return m.choosing(i - m.at)
		}
	default:
		m.focus = inText
	}
	return nil
}

func (m *model) wheel(at tea.Mouse) tea.Cmd {
	by := 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	}
	listWidth, _ := m.columns()
	switch m.dialog {
	case none:
	case helping:
		m.helpTop = max(0, m.helpTop+by)
		return nil
	case inTree:
		m.node = max(0, min(m.node+by, len(m.nodes)-1))
		return nil
	default:
		return nil
	}
	if at.X >= listWidth {
		return m.scroll(3 * by)
	}
	if m.focus = min(m.focus, inList); !m.answered {
		return nil
	}
	return m.choosing(by)
}

func (m *model) askTitle(r row) tea.Cmd {
	m.dialog, m.subject, m.input = renaming, r.id, r.title
	return nil
}

func (m *model) askTags(r row) tea.Cmd {
	m.dialog, m.subject, m.input = tagging, r.id, strings.Join(r.tags, " ")
	return nil
}

func (m *model) askExport(r row) tea.Cmd {
	m.dialog, m.subject, m.input = exporting, r.id, fileName(r.id)
	return nil
}

// fileName is a name for the export of a session in this folder: an id may
// have anything in it.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '-':
			return r
		}
		return '_'
	}, id) + ".jsonl"
}

func (m *model) askDelete(r row) tea.Cmd {
	m.dialog, m.subject, m.input = deleting, r.id, r.title
	return nil
}

func (m *model) inputKey(key, text string) tea.Cmd {
	switch key {
	case "esc":
		m.dialog = none
		return nil
	case "enter":
		as := m.dialog
		m.dialog = none
		switch as {
		case renaming:
			return m.rename(m.subject, m.input)
		case tagging:
			return m.tag(m.subject, m.input)
		}
		return m.export(m.subject, m.input)
	}
	m.input, _ = edit(m.input, key, text)
	return nil
}

func (m *model) rename(id, title string) tea.Cmd {
	return func() tea.Msg {
		err := m.o.Write(m.ctx, func(db *sessiondb.DB) error { return db.SetTitle(m.ctx, id, title) })
		return done{note: "renamed " + id, err: err}
	}
}

// tag gives a conversation the tags in a line, and no others.
func (m *model) tag(id, line string) tea.Cmd {
	return func() tea.Msg {
		err := m.o.Write(m.ctx, func(db *sessiondb.DB) error {
			_, err := db.SetTags(m.ctx, id, sessiondb.SplitTags(line))
			return err
		})
		return done{note: "tagged " + id, err: err}
	}
}

func (m *model) delete() tea.Cmd {
	id := m.subject
	return func() tea.Msg {
		var r sessiondb.DeleteReport
		err := m.o.Write(m.ctx, func(db *sessiondb.DB) (err error) {
			r, err = db.DeleteSession(m.ctx, id, sessiondb.DeleteOptions{Trash: true})
			return err
		})
		return done{note: fmt.Sprintf("deleted %s and %s", plural(int64(len(r.Sessions)), "session"), plural(r.Messages, "message")), err: err, gone: id}
	}
}

func (m *model) export(id, path string) tea.Cmd {
	if path == "" {
		m.note = "nothing was exported: the name of the file is empty"
		return nil
	}
	return func() tea.Msg {
		return done{note: "exported to " + path, err: m.o.Export(m.ctx, id, path)}
	}
}

// takeDone shows how a change ended, and the list as it is now.
func (m *model) takeDone(d done) tea.Cmd {
	m.note = d.note
	if d.err != nil {
		m.note = d.err.Error()
		return nil
	}
	if d.gone != "" {
		m.rows = without(m.rows, d.gone)
		m.keep("")
	}
	return tea.Batch(m.searching(), m.open())
}

func without(rows []row, id string) (out []row) {
	for _, r := range rows {
		if r.id != id {
			out = append(out, r)
		}
	}
	return out
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
