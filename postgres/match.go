package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/scan"
)

// Match implements [engine.Engine].
func (s *store) Match(ctx context.Context, q engine.Queryer, m engine.Match) (out engine.Matches, err error) {
	t, ok := q.(*tx)
	if !ok {
		return out, errors.New("match: the snapshot is of another engine")
	}
	if m.Query.Root == nil {
		return out, nil
	}
	c := &compiler{ctx: ctx, tx: t}
	set, ranks, err := c.compile(m.Query)
	if err != nil {
		return out, mapError(err)
	}
	r := &matching{ctx: ctx, tx: t, m: m, set: set, ranks: ranks, rank: c.rank, waiting: c.waiting}
	if m.Count {
		out.Counts, err = r.count()
		return out, err
	}
	if err := r.settleOrder(); err != nil {
		return out, err
	}
	out.Order = r.m.Order
	if m.Each != nil {
		return out, r.each()
	}
	err = r.stream(func(h engine.Hit) bool {
		out.Hits = append(out.Hits, h)
		return true
	})
	return out, err
}

// matching is one search being run.
type matching struct {
	ctx context.Context
	tx  *tx
	m   engine.Match
	set fragment // the ids of all hits

	ranks bool     // the set has the ranks too
	rank  []string // tsqueries that hits are ranked by, where it has not

	waiting *termRows
}

// from joins the hits with their messages and sessions, as the filters ask.
func (r *matching) from() fragment {
	f := fragment{` FROM (` + r.set.sql + `) h JOIN messages m ON m.id = h.message_id JOIN sessions s ON s.id = m.session_id WHERE TRUE`, r.set.args}
	if r.m.Sessions != nil {
		list := make([]string, len(r.m.Sessions))
		for i, id := range r.m.Sessions {
			list[i] = encodeText(id)
		}
		f = f.and(` AND m.session_id = ANY(?)`, list)
	}
	if r.m.Where != "" {
		f = f.and(` AND (`+r.m.Where+`)`, r.m.Args...)
	}
	return f
}

func (r *matching) count() (map[string]int64, error) {
	f := r.from()
	rows, err := r.query(fragment{`SELECT m.session_id, COUNT(*)` + f.sql + ` GROUP BY m.session_id`, f.args})
	if err != nil {
		return nil, err
	}
	return scan.Counts(rows)
}

// settleOrder puts the newest first where more messages match than may be ranked.
func (r *matching) settleOrder() error {
	if r.m.MaxRanked == 0 || r.m.Order != engine.ByRank {
		return nil
	}
	f := fragment{`SELECT COUNT(*) FROM (SELECT 1 FROM (` + r.set.sql, r.set.args}
	f = f.and(`) h LIMIT ?) k`, r.m.MaxRanked+1)
	f = r.waiting.before(f)
	var n int
	err := r.tx.QueryRow(r.ctx, f.sql, f.args...).Scan(&n)
	if n > r.m.MaxRanked {
		r.m.Order = engine.Newest
	}
	return err
}

// firstPart is how many hits by time are asked for before all of them. The server
// walks the messages for so few, where many match, and else sorts all that match.
const firstPart = 500

// each delivers hits until no more are wanted.
func (r *matching) each() error {
	ended, n := false, 0
	each := func(h engine.Hit) bool {
		n++
		ended = !r.m.Each(h)
		return !ended
	}
	if r.m.Order != engine.ByRank && r.m.Limit == 0 {
		r.m.Limit = firstPart
		if err := r.stream(each); err != nil || ended || n < firstPart {
			return err
		}
		r.m.Offset, r.m.Limit = r.m.Offset+n, 0
	}
	return r.stream(each)
}

// stream delivers the hits of the page, in order.
func (r *matching) stream(each func(engine.Hit) bool) error {
	rows, err := r.page()
	if err != nil {
		return err
	}
	return scan.Hits(rows, each)
}

func (r *matching) query(f fragment) (engine.Rows, error) {
	f = r.waiting.before(f)
	return r.tx.Query(r.ctx, f.sql, f.args...)
}

// page asks for the hits of the page.
func (r *matching) page() (engine.Rows, error) {
	if r.ranks && r.m.Order == engine.ByRank && r.m.Where == "" && r.m.Sessions == nil && r.m.Limit > 0 {
		// The best ones are chosen before messages are looked at.
		f := fragment{`SELECT m.id, m.session_id, h.rank FROM (` + r.set.sql, r.set.args}
		f = f.and(` ORDER BY rank, message_id DESC LIMIT ? OFFSET ?) h JOIN messages m ON m.id = h.message_id ORDER BY h.rank, m.id DESC`, r.m.Limit, r.m.Offset)
		return r.query(f)
	}
	f := r.ranked()
	order := `rank, m.id DESC`
	switch r.m.Order {
	case engine.Newest:
		order = `m.timestamp DESC, rank, m.id`
	case engine.Oldest:
		order = `m.timestamp, rank, m.id`
	}
	f = f.and(` ORDER BY ` + order)
	if r.m.Limit > 0 {
		f = f.and(` LIMIT ?`, r.m.Limit)
	}
	if r.m.Offset > 0 {
		f = f.and(` OFFSET ?`, r.m.Offset)
	}
	return r.query(f)
}

// ranked selects the hits with their ranks: that of the best part of a message, by
// the words of the query. Fragments have none.
func (r *matching) ranked() fragment {
	from := r.from()
	if r.ranks {
		return fragment{`SELECT m.id, m.session_id, h.rank` + from.sql, from.args}
	}
	if len(r.rank) == 0 {
		return fragment{`SELECT m.id, m.session_id, 0::float8 AS rank` + from.sql, from.args}
	}
	words := strings.Join(r.rank, " | ")
	return fragment{`SELECT m.id, m.session_id, COALESCE((SELECT -MAX(ts_rank(t.words, ?::text::tsquery, 1))::float8 FROM ` + r.waiting.terms() + ` t
 WHERE t.message_id = m.id), 0) AS rank` + from.sql, append([]any{words}, from.args...)}
}
