package sqlite

import (
	"database/sql"
	"errors"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// firstRanked is how many of the best hits are looked up first, where it is not
// known how many are wanted; spareRanked, how many more than wanted otherwise,
// since an index may know messages that are gone.
const (
	firstRanked = 160
	spareRanked = 16
)

// ranked delivers what one index answers alone, by rank. It keeps only the best
// hits while it reads, where a sort of all of them costs a common word as much
// as finding them; the others follow when they are wanted after all.
func (r *matching) ranked(p *matchPlan) error {
	first := firstRanked
	if r.m.Limit > 0 {
		first = r.m.Offset + r.m.Limit + spareRanked
	}
	page := r.bestPage
	if r.where() != "" {
		page = func(p *matchPlan, n int) error { return r.rankedPage(p, n, 0) }
	}
	if err := page(p, first); err != nil || r.done {
		return err
	}
	return r.rankedPage(p, -1, first)
}

// bestPage delivers the n best hits. Their messages are looked up one by one,
// only as far as they are wanted: a damaged page costs the messages on it.
func (r *matching) bestPage(p *matchPlan, n int) error {
	var best []engine.Hit
	rows, err := r.q.Query(r.ctx, bestSQL(p.index), p.expr, n, 0)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h engine.Hit
		if err := rows.Scan(&h.MessageID, &h.Rank); err != nil {
			return err
		}
		best = append(best, h)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, h := range best {
		err := r.q.QueryRow(r.ctx, `SELECT m.session_id FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?`, h.MessageID).
			Scan(&h.SessionID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case errors.Is(err, sessiondb.ErrCorrupt):
			r.unreadable++
		case err != nil:
			return err
		case !r.deliver(h):
			return nil
		}
	}
	return nil
}

// bestSQL is a query for the best hits of an index. With a second term in ORDER
// BY, FTS5 does not sort everything itself.
func bestSQL(index string) string {
	return `SELECT rowid AS id, rank FROM ` + index + ` WHERE ` + index + ` MATCH ? ORDER BY +rank, rowid LIMIT ? OFFSET ?`
}

// rankedPage delivers hits by rank.
func (r *matching) rankedPage(p *matchPlan, limit, offset int) error {
	if cond := r.where(); cond != "" {
		return r.stream(`SELECT m.id, m.session_id, rank FROM `+p.index+` CROSS JOIN messages m ON m.id = `+p.index+`.rowid
 CROSS JOIN sessions s ON s.id = m.session_id WHERE `+p.index+` MATCH ?`+cond+` ORDER BY +rank, m.id LIMIT ? OFFSET ?`,
			join([]any{p.expr}, r.whereArgs(), []any{limit, offset})...)
	}
	return r.stream(`SELECT m.id, m.session_id, h.rank FROM (`+bestSQL(p.index)+`)`+fromHits+`
 ORDER BY h.rank, h.id`, p.expr, limit, offset)
}
