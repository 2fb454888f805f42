package sessiondb

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// ListFilter says which sessions to list and in which order.
type ListFilter struct {
	Source         string
	ExcludeSources []string
	Tags           []string // only conversations that have all of these
	// Children includes continuations and delegates, which are otherwise shown
	// by their root, or not at all. Every session then stands for itself.
	Children bool
	// NoProjection shows a compressed root as itself, not as its tip.
	NoProjection bool
	// ByLastActive orders by last activity along the chain; otherwise by start.
	ByLastActive bool
	// Archived includes sessions that a newer program archived.
	Archived bool
	Limit    int // 0 means 20, negative no limit
	Offset   int

	ownActivity bool // what continues a session does not count as its activity
}

const (
	defaultLimit = 20
	farthestPage = 1 << 30 // further than any list, and safe to add
)

// page returns the limit and the offset to use; limit 0 is none.
func page(limit, offset int) (int, int) {
	switch {
	case limit == 0:
		limit = defaultLimit
	case limit < 0:
		limit = 0
	}
	return min(limit, farthestPage), min(max(offset, 0), farthestPage)
}

// ListedSession is a session as a list shows it.
type ListedSession struct {
	Session
	Preview    string // of the first user message, 60 characters
	LastActive time.Time
	// LineageRoot is the id of the root whose tip this is, empty for a session
	// that stands for itself.
	LineageRoot string
	Tags        []string // of its conversation, in order
}

// Sessions lists roots and branches, newest first, each compressed root
// standing with the id and state of its tip. The order is by start, equal
// ones as they were created where the store knows that, else by id, descending;
// or by last activity, equal ones by start, then by id, descending.
func (db *DB) Sessions(ctx context.Context, f ListFilter) (out []ListedSession, err error) {
	defer wrap(&err, "list sessions")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = db.list(ctx, q, f)
		return err
	})
	return out, err
}

// RecentSessions lists plain rows by last activity, newest first.
func (db *DB) RecentSessions(ctx context.Context, source string, limit, offset int) ([]ListedSession, error) {
	return db.Sessions(ctx, ListFilter{
		Source: source, Children: true, NoProjection: true, ByLastActive: true, Archived: true,
		Limit: limit, Offset: offset, ownActivity: true,
	})
}

func (db *DB) list(ctx context.Context, q engine.Queryer, f ListFilter) ([]ListedSession, error) {
	l, err := db.newListing(ctx, q, f)
	if err != nil {
		return nil, err
	}
	ids, err := l.pageIDs(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := l.load(ctx, ids)
	if err != nil {
		return nil, err
	}
	if !f.NoProjection && !f.Children {
		if err := l.project(ctx, rows); err != nil {
			return nil, err
		}
	}
	if err := l.describe(ctx, rows); err != nil {
		return nil, err
	}
	return rows, l.tag(ctx, rows)
}

// listing is one list being made.
type listing struct {
	q      engine.Queryer
	f      ListFilter
	info   engine.Info
	latest float64
	where  string // conditions on session c and its parent p
	args   []any
	atOnce bool // what is shown is few, or found at once in less time than one by one
}

func (db *DB) newListing(ctx context.Context, q engine.Queryer, f ListFilter) (*listing, error) {
	l := &listing{q: q, f: f, info: db.engine.Info(), latest: db.latest(), where: ` WHERE c.id IS NOT NULL`}
	if f.Source != "" {
		l.and(`c.source = ?`, f.Source)
	}
	if n := len(f.ExcludeSources); n > 0 {
		l.and(`c.source NOT IN (`+placeholders(n)+`)`, anys(f.ExcludeSources)...)
	}
	if l.info.Archived && !f.Archived {
		l.and(`c.archived = 0`)
	}
	if err := l.andTags(ctx); err != nil {
		return nil, err
	}
	if f.Children {
		return l, nil
	}
	l.and(`(p.id IS NULL OR ` + branchSQL + `)`)
	orphans, err := orphansTable.exists(ctx, q)
	if orphans {
		l.and(`NOT ` + rememberedDelegateSQL)
	}
	return l, err
}

func (l *listing) and(cond string, args ...any) {
	l.where += ` AND ` + cond
	l.args = append(l.args, args...)
}

// pageIDs returns the ids of the sessions of the page, in order.
func (l *listing) pageIDs(ctx context.Context) ([]string, error) {
	if l.f.ByLastActive {
		return l.byActivity(ctx)
	}
	limit, offset := page(l.f.Limit, l.f.Offset)
	tie := `c.id DESC`
	if l.info.CreationOrder != "" {
		tie = `c.` + l.info.CreationOrder
	}
	query := `SELECT c.id` + withParentSQL + l.where + ` ORDER BY c.started_at DESC, ` + tie
	args := l.args
	if limit > 0 {
		query, args = query+` LIMIT ? OFFSET ?`, append(args, limit, offset)
	}
	ids, err := queryStrings(ctx, l.q, query, args...)
	if limit == 0 {
		ids = ids[min(offset, len(ids)):]
	}
	return ids, err
}

// load reads the sessions of the page. What stands for them, and what a list
// shows beside a row, is read for all of them at once too.
func (l *listing) load(ctx context.Context, ids []string) ([]ListedSession, error) {
	byID, err := sessionsByID(ctx, l.q, ids)
	out := make([]ListedSession, 0, len(ids))
	for _, id := range ids {
		if s := byID[id]; s != nil { // else its id is no text: nobody could ask for it
			out = append(out, ListedSession{Session: *s, LastActive: s.StartedAt})
		}
	}
	return out, err
}

func sessionsByID(ctx context.Context, q engine.Queryer, ids []string) (map[string]*Session, error) {
	out := make(map[string]*Session, len(ids))
	err := eachIn(ctx, q, func(r engine.Rows) error {
		var id string // as it is stored, which need not be UTF-8
		var s Session
		err := r.Scan(append([]any{&id}, s.scanTargets()...)...)
		out[id] = &s
		return err
	}, `SELECT c.id, `+selectColumns("c", sessionColumns)+` FROM sessions c WHERE c.id IN`, ids)
	return out, err
}

// projectBatch is how many roots share one walk down their chains.
const projectBatch = 200

// project lets the tip of each compressed root stand for it: the root keeps its
// start and what the tip does not have, such as the source.
func (l *listing) project(ctx context.Context, rows []ListedSession) error {
	var roots []string
	for _, s := range rows {
		if s.EndReason != nil && *s.EndReason == "compression" {
			roots = append(roots, s.ID)
		}
	}
	tips := map[string]string{}
	for len(roots) > 0 {
		n := min(projectBatch, len(roots))
		nodes, err := continuations(ctx, l.q, l.latest, roots[:n]...)
		if err != nil {
			return err
		}
		for root, chain := range byRoot(nodes) {
			if path := tipPath(root, chain); len(path) > 1 {
				tips[root] = path[len(path)-1].id
			}
		}
		roots = roots[n:]
	}
	byID, err := sessionsByID(ctx, l.q, slices.Collect(maps.Values(tips)))
	if err != nil {
		return err
	}
	for i := range rows {
		if tip := byID[tips[rows[i].ID]]; tip != nil {
			rows[i].standIn(*tip)
		}
	}
	return nil
}

func byRoot(nodes []chainNode) map[string][]chainNode {
	m := map[string][]chainNode{}
	for _, n := range nodes {
		m[n.root] = append(m[n.root], n)
	}
	return m
}

func (s *ListedSession) standIn(tip Session) {
	s.LineageRoot = s.ID
	s.ID, s.EndedAt, s.EndReason = tip.ID, tip.EndedAt, tip.EndReason
	s.MessageCount, s.ToolCallCount = tip.MessageCount, tip.ToolCallCount
	s.Title, s.Model, s.SystemPrompt = tip.Title, tip.Model, tip.SystemPrompt
	odd := odd{}
	for k, v := range s.odd {
		odd[k] = v
	}
	for _, k := range []string{"id", "ended_at", "end_reason", "message_count", "tool_call_count", "title", "model", "system_prompt"} {
		delete(odd, k)
		if v, ok := tip.odd[k]; ok {
			odd[k] = v
		}
	}
	s.odd = odd
}

// describe adds what a list shows beside the rows.
func (l *listing) describe(ctx context.Context, rows []ListedSession) error {
	byID := make(map[string][]*ListedSession, len(rows))
	for i := range rows {
		byID[rows[i].ID] = append(byID[rows[i].ID], &rows[i])
	}
	err := eachIn(ctx, l.q, func(r engine.Rows) error {
		var id string
		var active time.Time
		var first Content
		var o odd
		err := r.Scan(&id, timeColumn{"last_active", &active, &o}, contentColumn{&first, &o})
		for _, s := range byID[id] {
			s.LastActive, s.Preview = active, cutPreview(first.PlainText())
		}
		return err
	}, `SELECT c.id, `+lastActiveSQL+`, `+openingSQL+` FROM sessions c WHERE c.id IN`, slices.Collect(maps.Keys(byID)), l.latest)
	for i := range rows {
		if s := &rows[i]; err == nil && s.Preview == "" {
			s.Preview, err = preview(ctx, l.q, s.ID)
		}
	}
	return err
}
