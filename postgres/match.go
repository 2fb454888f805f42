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
	r := &matching{ctx: ctx, tx: t, m: m}
	if err := r.compile(); err != nil {
		return out, t.mapError(err)
	}
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

	in      []*source
	waiting *termRows
}

// source is a set of hits: those in the index, or those that wait for it. No message
// is in both.
type source struct {
	terms string   // where their terms are
	set   fragment // their ids
	ranks bool     // the set has the ranks too
	rank  []string // tsqueries that hits are ranked by, where it has not
}

func (r *matching) compile() (err error) {
	if err := r.tx.look(r.ctx); err != nil {
		return err
	}
	if r.waiting, err = r.tx.waiting(r.ctx, r.m.Query); err != nil {
		return err
	}
	compilers := []*compiler{{terms: `sessiondb_terms`, several: r.tx.looked.several}}
	if r.waiting != nil {
		compilers = append(compilers, &compiler{terms: `waiting`, waiting: r.waiting, several: r.waiting.several()})
	}
	for _, c := range compilers {
		c.ctx, c.tx = r.ctx, r.tx
		s := &source{terms: c.terms}
		if s.set, s.ranks, err = c.compile(r.m.Query.Root); err != nil {
			return err
		}
		s.rank = c.rank
		r.in = append(r.in, s)
	}
	return nil
}

// together is made of what is asked of each source.
func (r *matching) together(ask func(*source) fragment) (f fragment) {
	for i, s := range r.in {
		if i > 0 {
			f.sql += ` UNION ALL `
		}
		one := ask(s)
		f = f.and(`(`+one.sql+`)`, one.args...)
	}
	return f
}

func (s *source) all() fragment { return s.set }

// from joins the hits with their messages and sessions, as the filters ask.
func (r *matching) from(s *source) fragment {
	f := fragment{` FROM (` + s.set.sql + `) h JOIN messages m ON m.id = h.message_id JOIN sessions s ON s.id = m.session_id WHERE TRUE`, s.set.args}
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
	f := r.together(func(s *source) fragment {
		from := r.from(s)
		return fragment{`SELECT m.session_id` + from.sql, from.args}
	})
	rows, err := r.query(fragment{`SELECT session_id, COUNT(*) FROM (` + f.sql + `) k GROUP BY session_id`, f.args})
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
	all := r.together((*source).all)
	f := fragment{`SELECT COUNT(*) FROM (SELECT 1 FROM (` + all.sql, all.args}
	f = r.waiting.before(f.and(`) h LIMIT ?) k`, r.m.MaxRanked+1))
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
	if r.bestFirst() {
		all := r.together((*source).all)
		f := fragment{`SELECT m.id, m.session_id, h.rank FROM (SELECT * FROM (` + all.sql, all.args}
		f = f.and(`) k ORDER BY rank, message_id DESC LIMIT ? OFFSET ?) h JOIN messages m ON m.id = h.message_id ORDER BY h.rank, m.id DESC`, r.m.Limit, r.m.Offset)
		return r.query(f)
	}
	f := r.ranked(r.in[0])
	if len(r.in) > 1 {
		f = r.together(func(s *source) fragment { return r.ordered(r.ranked(s), r.m.Limit, r.m.Offset, 0) })
		f.sql = `SELECT id, session_id, rank FROM (` + f.sql + `) m`
	}
	return r.query(r.ordered(f, r.m.Limit, 0, r.m.Offset))
}

// bestFirst says that the best hits can be chosen before messages are looked at.
func (r *matching) bestFirst() bool {
	for _, s := range r.in {
		if !s.ranks {
			return false
		}
	}
	return r.m.Order == engine.ByRank && r.m.Where == "" && r.m.Sessions == nil && r.m.Limit > 0
}

// ordered puts hits in order and takes some of them: limit, 0 for all, and more.
func (r *matching) ordered(f fragment, limit, more, offset int) fragment {
	order := `rank, m.id DESC`
	switch r.m.Order {
	case engine.Newest:
		order = `m.timestamp DESC, rank, m.id`
	case engine.Oldest:
		order = `m.timestamp, rank, m.id`
	}
	f = f.and(` ORDER BY ` + order)
	if limit > 0 {
		f = f.and(` LIMIT ?`, limit+more)
	}
	if offset > 0 {
		f = f.and(` OFFSET ?`, offset)
	}
	return f
}

// ranked selects the hits with their ranks: that of the best part of a message, by
// the words of the query. Fragments have none.
func (r *matching) ranked(s *source) fragment {
	from := r.from(s)
	rank := fragment{`0::float8`, nil}
	switch {
	case s.ranks:
		rank.sql = `h.rank`
	case len(s.rank) > 0:
		rank = fragment{`COALESCE((SELECT -MAX(ts_rank(t.words, ?::text::tsquery, 1))::float8 FROM ` + s.terms + ` t WHERE t.message_id = m.id), 0)`,
			[]any{strings.Join(s.rank, " | ")}}
	}
	columns := `m.id, m.session_id, `
	if len(r.in) > 1 {
		columns = `m.timestamp, ` + columns
	}
	return fragment{`SELECT ` + columns + rank.sql + ` AS rank` + from.sql, append(rank.args, from.args...)}
}
