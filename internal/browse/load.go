package browse

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

const (
	pageSize   = 50 // sessions read at once
	foundSize  = 20 // conversations that a search shows
	titlesSize = 10 // of them, those found by their title
	around     = 20 // messages on each side of a hit
)

// gate lets one read in at a time: each has a cache of its own, and of two that
// want the same part of the screen the older one is cancelled anyway.
type gate chan struct{}

func (g gate) do(ctx context.Context, read func() error) error {
	select {
	case g <- struct{}{}:
		defer func() { <-g }()
		return read()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// row is a conversation in the list.
type row struct {
	id       string
	title    string
	source   string
	at       time.Time
	messages int64
	preview  string
	tags     []string
	// of a search:
	hitIn   string // the session that the hit is in
	hit     int64  // its message; 0 where the title was found
	snippet textLine
	hits    int64
}

// listed is a page of sessions.
type listed struct {
	rows   []row
	offset int
	gen    int
	err    error
}

// list reads a page of what a filter lets through.
func (m *model) list(f sessiondb.ListFilter, offset int) tea.Cmd {
	f.ByLastActive, f.Limit, f.Offset = true, pageSize, offset
	ctx, out := m.listCtx, listed{offset: offset, gen: m.gen}
	return func() tea.Msg {
		out.err = m.listReads.do(ctx, func() error {
			ss, err := m.o.DB.Sessions(ctx, f)
			for _, s := range ss {
				out.rows = append(out.rows, row{
					id: s.ID, title: deref(s.Title), source: s.Source, at: s.LastActive, messages: s.MessageCount, preview: s.Preview, tags: s.Tags,
				})
			}
			return err
		})
		return out
	}
}

// found is what a search found.
type found struct {
	rows     []row
	contents string // what is still to be searched for in the messages
	nothing  string // what was searched for, where nothing was found
	note     string
	gen      int
	err      error
}

// searching begins anew what the list shows: a search that is under way ends.
func (m *model) searching() tea.Cmd {
	m.cancelList()
	m.listCtx, m.cancelList = context.WithCancel(m.ctx)
	m.gen++
	m.busy, m.unread = true, false
	if f, ok := m.lists(); ok {
		return m.list(f, 0)
	}
	ctx, query, out := m.listCtx, m.query, found{gen: m.gen, contents: sessiondb.UnfinishedQuery(m.query)}
	return func() tea.Msg {
		out.err = m.listReads.do(ctx, func() (err error) {
			out.rows, err = m.titled(ctx, query)
			return err
		})
		return out
	}
}

// titled are the conversations whose title has the query in it.
func (m *model) titled(ctx context.Context, query string) (rows []row, err error) {
	ss, err := m.o.DB.SessionsTitled(ctx, query, titlesSize)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(ss))
	for i, s := range ss {
		ids[i] = s.ID
	}
	tags, err := m.o.DB.TagsOf(ctx, ids...)
	for _, s := range ss {
		tip, err := m.o.DB.CompressionTip(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		rows = merged(rows, []row{{
			id: tip, title: deref(s.Title), source: s.Source, at: s.StartedAt, messages: s.MessageCount, tags: tags[s.ID], hitIn: s.ID,
		}})
	}
	return rows, err
}

// contents adds to the conversations found by title those that a message was
// found in. The newest come first, which costs least where many match.
func (m *model) contents(titled []row, query string) tea.Cmd {
	ctx, out := m.listCtx, found{gen: m.gen}
	terms := sessiondb.QueryTerms(query)
	q := sessiondb.SearchQuery{Text: query, Limit: foundSize, Sort: sessiondb.Newest, NoSuggestions: true}
	return func() tea.Msg {
		out.err = m.listReads.do(ctx, func() error {
			r, err := m.o.DB.SearchGrouped(ctx, q)
			var hits []row
			for _, c := range r.Conversations {
				snippet := strings.TrimSpace(oneLine(unmarked(c.Best.Snippet)))
				hits = append(hits, row{
					id: c.TipID, title: deref(c.Title), preview: c.Preview, source: c.Best.Source, at: c.Best.Timestamp, tags: c.Tags,
					hitIn: c.Best.SessionID, hit: c.Best.MessageID, snippet: lineOf(snippet, 0, terms.Find(snippet)), hits: c.Hits,
				})
			}
			out.rows, out.note = together(titled, hits), searchNote(r)
			if len(out.rows) == 0 {
				out.nothing = query
			}
			return err
		})
		return out
	}
}

// suggested is what a search that found nothing could have been.
type suggested struct {
	note string
	gen  int
	err  error
}

func (m *model) suggestions(query string) tea.Cmd {
	ctx, out := m.listCtx, suggested{gen: m.gen}
	return func() tea.Msg {
		out.err = m.listReads.do(ctx, func() error {
			r, err := m.o.DB.SearchGrouped(ctx, sessiondb.SearchQuery{Text: query, Limit: 1, Sort: sessiondb.Newest})
			out.note = searchNote(r)
			return err
		})
		return out
	}
}

// together are the conversations found by title, with their hits where they
// have some, and then the others.
func together(titled, hits []row) []row {
	byID := map[string]row{}
	for _, h := range hits {
		byID[h.id] = h
	}
	var out []row
	for _, t := range titled {
		if h, ok := byID[t.id]; ok {
			h.title = t.title
			t = h
		}
		out = append(out, t)
	}
	return merged(out, hits)
}

func searchNote(r sessiondb.GroupedResult) string {
	notes := r.Notices
	if len(r.Suggestions) > 0 {
		for _, s := range r.Suggestions {
			if s.Query != "" {
				notes = append(notes, "try "+s.Query)
				break
			}
		}
	}
	return term.Line(strings.Join(notes, "; "))
}

// passage is a part of a transcript.
type passage struct {
	session string
	anchor  int64 // a message that it is around, 0 for the beginning
	ms      []sessiondb.Message
	where   int // -1 goes before what is shown, 1 after it, 0 takes its place
	all     bool
	gen     int
	err     error
	// where it takes the place of what is shown:
	opened
	terms   sessiondb.Terms
	snippet textLine
	by      int // -1 shows the last match of the anchor, not the first
	pane    transcriptPane
}

// around reads the messages around the anchor.
func (p *passage) around(ctx context.Context, db *sessiondb.DB) error {
	w, err := db.MessagesAround(ctx, p.session, p.anchor, around)
	p.ms = w.Window
	return err
}

// read ends what is read of a transcript, and returns the context of what is read
// instead.
func (m *model) read() context.Context {
	m.cancelText()
	m.textCtx, m.cancelText = context.WithCancel(m.ctx)
	m.textGen++
	m.text.loading = false
	return m.textCtx
}

// open reads the transcript of the selected row, around its hit.
func (m *model) open() tea.Cmd {
	r, ok := m.current()
	if !ok {
		m.want, m.text = opened{}, transcriptPane{}
		return nil
	}
	want := opened{in: cmp.Or(r.hitIn, r.id), hit: r.hit, query: m.asked()}
	if m.want == want && m.text.err == nil {
		return nil
	}
	m.want = want
	ctx := m.read()
	out := passage{
		session: want.in, anchor: r.hit, gen: m.textGen, opened: want,
		terms: sessiondb.QueryTerms(sessiondb.UnfinishedQuery(want.query)), snippet: r.snippet,
	}
	return func() tea.Msg {
		out.err = m.textReads.do(ctx, func() (err error) {
			if out.anchor == 0 {
				out.ms, err = m.o.DB.MessagesAfter(ctx, out.session, 0, 2*around)
				return err
			}
			return out.around(ctx, m.o.DB)
		})
		out.lookThrough()
		return out
	}
}

// more reads the messages that come after what is shown, or before it.
func (m *model) more(where int) tea.Cmd {
	t := &m.text
	if len(t.ms) == 0 || t.loading || where < 0 && t.first || where > 0 && t.last {
		return nil
	}
	t.loading = true
	ctx, out := m.textCtx, passage{session: t.session, gen: m.textGen, where: where}
	begin, end := t.ms[0].ID, t.ms[len(t.ms)-1].ID
	return func() tea.Msg {
		out.err = m.textReads.do(ctx, func() (err error) {
			if where > 0 {
				out.ms, err = m.o.DB.MessagesAfter(ctx, out.session, end, 2*around)
				return err
			}
			w, err := m.o.DB.MessagesAround(ctx, out.session, begin, 2*around)
			out.ms = w.Window[:min(w.MessagesBefore, len(w.Window))]
			return err
		})
		out.all = len(out.ms) < 2*around
		return out
	}
}

// tree is the lineage of a session.
type tree struct {
	of    string
	nodes []sessiondb.LineageNode
	err   error
}

func (m *model) lineage(id string) tea.Cmd {
	return func() tea.Msg {
		out := tree{of: id}
		out.err = m.textReads.do(m.ctx, func() (err error) {
			out.nodes, err = m.o.DB.Lineage(m.ctx, id)
			return err
		})
		return out
	}
}

// done is the end of a change.
type done struct {
	note string
	err  error
	gone string // id of what was deleted
}

// changed says that somebody stored messages, or why that can't be told now or any
// more.
type changed struct{ err error }

// followEvery is how often browse looks for changes: a person does not see that
// it is not at once, and a laptop sleeps in between.
const followEvery = 500 * time.Millisecond

// follow tells changes of the store, several at once as one.
func (m *model) follow() {
	lost := func(err error) bool { return m.tell(changed{err}) }
	for _, err := range m.o.DB.Watch(m.ctx, sessiondb.WatchFilter{After: -1, Lost: lost, Every: followEvery}) {
		m.tell(changed{err})
	}
}

// tell hands on what follow heard. An error waits until it can be told.
func (m *model) tell(c changed) bool {
	if c.err == nil {
		select {
		case m.changes <- c:
		default: // one is waiting to be told
		}
		return true
	}
	select {
	case m.changes <- c:
		return true
	case <-m.ctx.Done():
		return false
	}
}

// reachPause is how long browse waits before it looks again for a server.
const reachPause = time.Second

// back says that a server answers again that was away.
type back struct{}

// reach waits until the server answers.
func (m *model) reach() tea.Msg {
	for {
		select {
		case <-time.After(reachPause):
		case <-m.ctx.Done():
			return nil
		}
		if _, _, err := m.o.DB.Meta(m.ctx, "browse"); !errors.Is(err, sessiondb.ErrConnection) {
			return back{}
		}
	}
}

func (m *model) nextChange() tea.Msg {
	select {
	case c := <-m.changes:
		return c
	case <-m.ctx.Done():
		return nil
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stale reports an error that only says that nobody waits any more.
func stale(err error) bool { return errors.Is(err, context.Canceled) }
