package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/scan"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// Match implements [engine.Engine]. What an index cannot answer, because it is
// missing or damaged, is looked for in the messages themselves.
func (s *store) Match(ctx context.Context, q engine.Queryer, m engine.Match) (engine.Matches, error) {
	var out engine.Matches
	if m.Query.Root == nil {
		return out, nil
	}
	quick := context.WithoutCancel(ctx)
	ix, err := s.textIndexes(quick, q)
	if err != nil {
		return out, err
	}
	for {
		var hits []engine.Hit
		run := &matching{ctx: ctx, quick: quick, q: q, m: m, store: s, indexes: ix}
		run.each = func(h engine.Hit) bool {
			if m.Each != nil {
				return m.Each(h)
			}
			hits = append(hits, h)
			return true
		}
		counts, delivered, err := run.run()
		if err == nil {
			return engine.Matches{Hits: hits, Order: run.m.Order, Counts: counts,
				Notices: append(ix.notices(), run.notices()...), Unreadable: run.unreadable}, nil
		}
		if ctx.Err() != nil || !ix.used() || m.Each != nil && delivered || errors.Is(err, sessiondb.ErrClosed) {
			return out, err
		}
		ix.giveUp()
	}
}

// matching is one search being run.
type matching struct {
	ctx       context.Context
	quick     context.Context // never done: for what takes less time than to watch ctx
	q         engine.Queryer
	m         engine.Match
	store     *store
	indexes   *textIndexes
	few       *idSet // the only messages to look at; nil where they are not known
	each      func(engine.Hit) bool
	delivered bool
	again     int // hits that were delivered before, and come again
	skipped   int // hits passed over, of Offset
	taken     int // hits delivered, of Limit
	done      bool

	unreadable int // hits that stand on damaged pages

	// What holds for the whole search, which a walk in parts asks for each of them.
	touch   map[*searchql.Term][]string // see compiler.pairs
	spelled map[*searchql.Term]string   // see compiler.spelledOut
	words   map[string]bool             // see compiler.hasWord
	marked  *int                        // see compiler.structured

	tally map[string]int64 // see engine.Match.Tally; nil where it is not known
}

func (r *matching) notices() []string {
	if r.unreadable == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d hits are left out: they stand on damaged pages", r.unreadable)}
}

// run delivers the hits, or counts them.
func (r *matching) run() (counts map[string]int64, delivered bool, err error) {
	p, err := r.ordered()
	if err != nil || r.few.listed() && r.few.n == 0 {
		return nil, false, err
	}
	switch {
	case r.m.Count:
		counts, err = r.count(p)
	case r.m.Order != engine.ByRank:
		err = r.byTime(p)
	default:
		err = r.byRank(p)
		counts = r.tally
	}
	return counts, r.delivered, err
}

// deliver passes a hit on unless it stands before the page; false after it.
func (r *matching) deliver(h engine.Hit) bool {
	if r.again > 0 {
		r.again--
		return true
	}
	if r.skipped < r.m.Offset {
		r.skipped++
		return true
	}
	if r.m.Limit > 0 && r.taken >= r.m.Limit {
		r.done = true
		return false
	}
	r.taken++
	r.delivered = true
	if !r.each(h) || r.m.Limit > 0 && r.taken == r.m.Limit {
		r.done = true
	}
	return !r.done
}

// stream delivers the rows (id, session_id, rank) of a query.
func (r *matching) stream(query string, args ...any) error {
	rows, err := r.q.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	return scan.Hits(rows, r.deliver)
}

// where is the condition of the search, behind another one.
func (r *matching) where() (cond string) {
	cond = r.ofSessions()
	if r.m.Where != "" {
		cond += ` AND (` + r.m.Where + `)`
	}
	return cond
}

func (r *matching) whereArgs() []any { return join(r.sessionArgs(), r.m.Args) }

// manySessions is of how many sessions the messages are not read one session after
// the other, and sorted, where another order of them leads to a page.
const manySessions = 1000

// ofSessions is the part of where that names sessions.
func (r *matching) ofSessions() string {
	switch n := len(r.m.Sessions); {
	case r.m.Sessions == nil:
		return ""
	case n >= manySessions:
		return ` AND +m.session_id IN (SELECT value FROM json_each(?))`
	}
	return ` AND m.session_id IN (SELECT value FROM json_each(?))`
}

func (r *matching) sessionArgs() []any {
	if r.m.Sessions == nil {
		return nil
	}
	list, _ := json.Marshal(r.m.Sessions) // strings always can be
	return []any{string(list)}
}

// fromHits joins the messages and sessions of a set of ids, the set first.
const fromHits = ` h CROSS JOIN messages m ON m.id = h.id CROSS JOIN sessions s ON s.id = m.session_id`

func (r *matching) count(p *matchPlan) (map[string]int64, error) {
	query, args := `SELECT m.session_id, COUNT(*) FROM (`+p.all.sql+`)`+fromHits+` WHERE 1`, p.all.args
	if r.m.Sessions != nil {
		query = `SELECT m.session_id, COUNT(*) FROM messages m CROSS JOIN sessions s ON s.id = m.session_id WHERE +m.id IN (` + p.all.sql + `)`
	}
	rows, err := r.q.Query(r.ctx, query+r.where()+` GROUP BY m.session_id`, join(args, r.whereArgs())...)
	if err != nil {
		return nil, err
	}
	return scan.Counts(rows)
}

// byRank delivers what one index answers alone, by its rank, and then what only
// the rest of the plan finds, the newest first.
func (r *matching) byRank(p *matchPlan) error {
	if p.index == "" {
		return r.byRanks(p)
	}
	err := r.ranked(p)
	if err != nil || r.done || !p.extra {
		return err
	}
	if err := p.complete(); err != nil {
		return err
	}
	known := r.few.find(p.index, p.expr)
	return r.stream(`SELECT m.id, m.session_id, 0.0 FROM (`+p.all.sql+`)`+fromHits+`
 WHERE +h.id NOT IN (`+known.sql+`)`+r.where()+` ORDER BY m.id DESC`,
		join(p.all.args, known.args, r.whereArgs())...)
}

func join(lists ...[]any) []any {
	var out []any
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
