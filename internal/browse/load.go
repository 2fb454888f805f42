package browse

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// row is a conversation in the list.
type row struct {
	id       string
	title    string
	source   string
	at       time.Time
	messages int64
	preview  string
	// of a search:
	hitIn   string // the session that the hit is in
	hit     int64  // its message; 0 where the title was found
	snippet string
	hits    int64
}

// listed is a page of sessions.
type listed struct {
	rows   []row
	offset int
	gen    int
	err    error
}

func (m *model) list(offset int) tea.Cmd {
	ctx, gen := m.listCtx, m.gen
	return func() tea.Msg {
		ss, err := m.o.DB.Sessions(ctx, sessiondb.ListFilter{ByLastActive: true, Limit: pageSize, Offset: offset})
		out := listed{offset: offset, gen: gen, err: err}
		for _, s := range ss {
			out.rows = append(out.rows, row{
				id: s.ID, title: deref(s.Title), source: s.Source, at: s.LastActive, messages: s.MessageCount, preview: s.Preview,
			})
		}
		return out
	}
}

// found is what a search found.
type found struct {
	rows     []row
	contents string // what is still to be searched for in the messages
	note     string
	gen      int
	err      error
}

// searching begins anew what the list shows: a search that is under way ends.
func (m *model) searching() tea.Cmd {
	m.cancelList()
	m.listCtx, m.cancelList = context.WithCancel(m.ctx)
	m.gen++
	m.busy = true
	if strings.TrimSpace(m.query) == "" {
		return m.list(0)
	}
	ctx, gen, query := m.listCtx, m.gen, m.query
	return func() tea.Msg {
		rows, err := m.titled(ctx, query)
		return found{rows: rows, gen: gen, err: err, contents: typing(query)}
	}
}

// titled are the conversations whose title has the query in it.
func (m *model) titled(ctx context.Context, query string) (rows []row, err error) {
	ss, err := m.o.DB.SessionsTitled(ctx, query, titlesSize)
	for _, s := range ss {
		tip, err := m.o.DB.CompressionTip(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		rows = merged(rows, []row{{
			id: tip, title: deref(s.Title), source: s.Source, at: s.StartedAt, messages: s.MessageCount, hitIn: s.ID,
		}})
	}
	return rows, err
}

// contents adds to the conversations found by title those that a message was
// found in. The newest come first, which costs least where many match.
func (m *model) contents(titled []row, query string) tea.Cmd {
	ctx, gen := m.listCtx, m.gen
	return func() tea.Msg {
		r, err := m.o.DB.SearchGrouped(ctx, sessiondb.SearchQuery{Text: query, Limit: foundSize, Sort: sessiondb.Newest})
		var hits []row
		for _, c := range r.Conversations {
			hits = append(hits, row{
				id: c.TipID, title: deref(c.Title), source: c.Best.Source, at: c.Best.Timestamp,
				hitIn: c.Best.SessionID, hit: c.Best.MessageID, snippet: c.Best.Snippet, hits: c.Hits,
			})
		}
		return found{rows: together(titled, hits), note: searchNote(r), gen: gen, err: err}
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

// typing is what is searched for in the messages while a query is typed. Its last word
// may not be finished: it stands for all words that begin so. One letter says
// too little, and would cost more than all that follow: it is left out.
func typing(query string) string {
	words := strings.Fields(query)
	last, _ := utf8.DecodeLastRuneInString(query)
	switch {
	case !unicode.IsLetter(last) && !unicode.IsDigit(last):
		return query
	case len(words[len(words)-1]) == 1:
		return strings.TrimSpace(query[:len(query)-1])
	}
	return query + "*"
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
	anchor  int64
	ms      []sessiondb.Message
	where   int // -1 goes before what is shown, 1 after it, 0 takes its place
	all     bool
	gen     int
	err     error
}

// open reads the transcript of the selected row, around its hit.
func (m *model) open() tea.Cmd {
	r, ok := m.current()
	if !ok {
		m.text = transcriptPane{}
		return nil
	}
	id := r.id
	if r.hitIn != "" {
		id = r.hitIn
	}
	if m.text.session == id && m.text.anchor == r.hit && m.text.query == m.query {
		return nil
	}
	m.cancelText()
	m.textCtx, m.cancelText = context.WithCancel(m.ctx)
	m.textGen++
	m.text.words = snippetWords(r.snippet)
	m.text.query = m.query
	ctx, gen, hit := m.textCtx, m.textGen, r.hit
	return func() tea.Msg {
		out := passage{session: id, anchor: hit, gen: gen}
		if hit == 0 {
			out.ms, out.err = m.o.DB.MessagesAfter(ctx, id, 0, 2*around)
			return out
		}
		w, err := m.o.DB.MessagesAround(ctx, id, hit, around)
		out.ms, out.err = w.Window, err
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
	ctx, out := m.textCtx, passage{session: t.session, anchor: t.anchor, gen: m.textGen, where: where}
	begin, end := t.ms[0].ID, t.ms[len(t.ms)-1].ID
	return func() tea.Msg {
		if where > 0 {
			out.ms, out.err = m.o.DB.MessagesAfter(ctx, out.session, end, 2*around)
			out.all = len(out.ms) < 2*around
			return out
		}
		w, err := m.o.DB.MessagesAround(ctx, out.session, begin, 2*around)
		out.ms, out.err = w.Window[:min(w.MessagesBefore, len(w.Window))], err
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
		nodes, err := m.o.DB.Lineage(m.ctx, id)
		return tree{id, nodes, err}
	}
}

// done is the end of a change.
type done struct {
	note string
	err  error
	gone string // id of what was deleted
}

// changed says that somebody stored messages, or why that can't be told any more.
type changed struct{ err error }

// follow tells changes of the store, several at once as one.
func (m *model) follow() {
	for _, err := range m.o.DB.Watch(m.ctx, sessiondb.WatchFilter{After: -1}) {
		select {
		case m.changes <- changed{err}:
		default: // one is waiting to be told
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
