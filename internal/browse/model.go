package browse

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
)

// focus is where keys go.
type focus int

const (
	inField focus = iota
	inList
	inText
)

// dialog is what stands in front of the list.
type dialog int

const (
	none dialog = iota
	helping
	inTree
	renaming
	tagging
	exporting
	deleting
)

// model is the state of the screen.
type model struct {
	o     Options
	ctx   context.Context // of the whole run
	stop  context.CancelFunc
	first tea.Cmd // what the list shows to begin with

	width, height int
	focus         focus
	dialog        dialog
	input         string // of a dialog that asks
	subject       string // id of the session that a dialog is about
	note          string // one line about what happened
	away          error  // why the server of the store can't be reached, while it can't
	unread        bool   // what the list should show could not be read for that
	failed        error  // why nothing can be shown at all
	chosen        string

	listReads, textReads gate

	query      string
	answered   bool             // rows are the answer to query, or the first of it
	waiting    []func() tea.Cmd // what keys ask of rows that are not there yet
	rows       []row
	at, top    int  // the selected row, the first on the screen
	whole      bool // there are no more rows
	busy       bool // a search or a page is under way
	gen        int  // of what the list shows: answers to older questions are dropped
	listCtx    context.Context
	cancelList context.CancelFunc

	want       opened // what the transcript is to show
	text       transcriptPane
	unfolded   bool
	textGen    int
	textCtx    context.Context
	cancelText context.CancelFunc

	nodes         []sessiondb.LineageNode
	node, nodeTop int
	helpTop       int
	changes       chan changed
}

func newModel(ctx context.Context, o Options) *model {
	m := &model{o: o, width: 80, height: 24, changes: make(chan changed, 1), listReads: make(gate, 1), textReads: make(gate, 1)}
	m.ctx, m.stop = context.WithCancel(ctx)
	m.listCtx, m.cancelList = context.WithCancel(m.ctx)
	m.textCtx, m.cancelText = context.WithCancel(m.ctx)
	return m
}

// Init waits for the first page and begins to follow the store.
func (m *model) Init() tea.Cmd {
	go m.follow()
	return tea.Batch(m.first, m.nextChange)
}

// Update takes what was pressed, read or changed.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.update(msg) }

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.text.stale = true
		m.reveal()
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.typed(msg.Content)
	case tea.MouseClickMsg:
		return m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		return m.wheel(msg.Mouse())
	case listed:
		return m.take(msg)
	case found:
		return m.takeFound(msg)
	case suggested:
		return m.takeSuggested(msg)
	case passage:
		return m.takePassage(msg)
	case sought:
		return m.takeSought(msg)
	case tree:
		return m.takeTree(msg)
	case changed:
		return m.refresh(msg)
	case back:
		return m.takeBack()
	case done:
		return m.takeDone(msg)
	}
	return nil
}

// asked is what is searched for: nothing where only spaces were typed.
func (m *model) asked() string {
	if strings.TrimSpace(m.query) == "" {
		return ""
	}
	return m.query
}

// lists is what to list: all, or what a query of nothing but filters asks for; false
// where something is searched for.
func (m *model) lists() (sessiondb.ListFilter, bool) {
	if m.asked() == "" {
		return sessiondb.ListFilter{}, true
	}
	return sessiondb.ListQuery(m.query)
}

// whenAnswered does what a key asks of the rows. While they answer what was typed
// before, it waits: on a slow store the same keys act on the same rows.
func (m *model) whenAnswered(do func() tea.Cmd) tea.Cmd {
	if m.answered {
		return do()
	}
	m.waiting = append(m.waiting, do)
	if m.busy || m.unread {
		return nil
	}
	return m.searching() // the one before failed
}

// answer takes the rows for the answer to what was typed, and does what waits for
// it, up to a question: keys that were pressed before that was seen don't reply to it.
func (m *model) answer() tea.Cmd {
	m.answered = true
	cmds := []tea.Cmd{m.open()}
	for len(m.waiting) > 0 && m.dialog == none {
		do := m.waiting[0]
		m.waiting = m.waiting[1:]
		cmds = append(cmds, do())
	}
	m.waiting = nil
	return tea.Batch(cmds...)
}

// take puts a page of sessions into the list. The first page goes before what
// is loaded, which may be far down.
func (m *model) take(p listed) tea.Cmd {
	if p.gen != m.gen || stale(p.err) {
		return nil
	}
	m.busy = false
	if p.err != nil {
		return m.fail(p.err)
	}
	if len(p.rows) < pageSize {
		m.whole = true
	}
	chosen, _ := m.current()
	switch {
	case p.offset == 0 && m.asked() != "": // what a filter no longer finds goes
		m.rows, m.whole = p.rows, len(p.rows) < pageSize
	case p.offset == 0:
		m.rows = merged(p.rows, m.rows)
	default:
		m.rows = merged(m.rows, p.rows)
	}
	m.keep(chosen.id)
	return m.answer()
}

// merged is the first list, and what of the second it does not have.
func merged(first, second []row) []row {
	have := make(map[string]bool, len(first))
	for _, r := range first {
		have[r.id] = true
	}
	for _, r := range second {
		if !have[r.id] {
			have[r.id] = true
			first = append(first, r)
		}
	}
	return first
}

func (m *model) takeFound(f found) tea.Cmd {
	if f.gen != m.gen || stale(f.err) {
		return nil
	}
	m.busy = f.contents != "" && f.err == nil
	if f.err != nil {
		return m.fail(f.err)
	}
	m.whole = true
	if f.contents != "" {
		next := m.contents(f.rows, f.contents)
		if len(f.rows) == 0 || m.answered { // what is there is better than a part
			return next
		}
		m.rows, m.at, m.top = f.rows, 0, 0
		m.answered = len(m.waiting) == 0 // else the second row may not be there yet
		return tea.Batch(m.open(), next)
	}
	m.suggest(f.note)
	chosen := ""
	if r, ok := m.current(); ok && m.answered {
		chosen = r.id
	}
	m.rows = f.rows
	m.keepOrFirst(chosen)
	if f.nothing != "" {
		return tea.Batch(m.answer(), m.suggestions(f.nothing))
	}
	return m.answer()
}

func (m *model) takeSuggested(s suggested) tea.Cmd {
	if s.gen == m.gen && s.err == nil {
		m.suggest(s.note)
	}
	return nil
}

// suggest says what there is to say of a search. How a change ended stays until the
// next key.
func (m *model) suggest(note string) {
	if m.note == "" {
		m.note = note
	}
}

// keepOrFirst selects the row of an id again, else the first.
func (m *model) keepOrFirst(id string) {
	m.at, m.top = 0, 0
	m.keep(id)
}

// fail says what went wrong. Without anything to show, that is the end.
func (m *model) fail(err error) tea.Cmd {
	if errors.Is(err, sessiondb.ErrConnection) {
		m.unread = true
		return m.lost(err)
	}
	m.waiting = nil
	if len(m.rows) == 0 && m.asked() == "" {
		m.failed = err
		return tea.Quit
	}
	m.note = err.Error()
	return nil
}

// lost shows that the server can't be reached, until it answers again.
func (m *model) lost(err error) tea.Cmd {
	waits := m.away != nil
	if m.away = err; waits {
		return nil
	}
	return m.reach
}

// takeBack reads what could not be read.
func (m *model) takeBack() tea.Cmd {
	m.away = nil
	if m.unread {
		m.unread = false
		return m.searching()
	}
	return m.open()
}

// keep selects the row of an id again, wherever it is now.
func (m *model) keep(id string) {
	for i, r := range m.rows {
		if r.id == id {
			m.at = i
			m.reveal()
			return
		}
	}
	m.at = max(0, min(m.at, len(m.rows)-1))
	m.reveal()
}

func (m *model) current() (row, bool) {
	if m.at < 0 || m.at >= len(m.rows) {
		return row{}, false
	}
	return m.rows[m.at], true
}

// refreshPause is how long changes are gathered before they are shown.
const refreshPause = 300 * time.Millisecond

// refresh shows what others stored: the top of the list, and the end of the
// transcript. What a search found stays as it is while it is read.
func (m *model) refresh(c changed) tea.Cmd {
	if errors.Is(c.err, sessiondb.ErrConnection) {
		return tea.Batch(m.nextChange, m.lost(c.err))
	}
	if c.err != nil {
		m.note = "no longer following the store: " + c.err.Error()
		return nil
	}
	next := tea.Tick(refreshPause, func(time.Time) tea.Msg { return m.nextChange() })
	cmds := []tea.Cmd{next}
	if f, ok := m.lists(); ok {
		cmds = append(cmds, m.list(f, 0))
	}
	if m.text.last {
		m.text.last = false
		cmds = append(cmds, m.more(1))
	}
	return tea.Batch(cmds...)
}
