package sqlite

import "github.com/sessiondb-go/sessiondb/internal/engine"

// top delivers the first page by rank of what one index answers. It keeps only
// the best hits while it reads, where a sort of all of them costs a common word
// as much as finding them. It reports false, and has delivered nothing, when
// the page is not its to make: hits may be left out of it, or there is no page.
func (r *matching) top(p *matchPlan) (bool, error) {
	if r.m.Limit <= 0 || r.m.Each != nil || r.m.Where != "" {
		return false, nil
	}
	// The plus sign keeps the index from sorting everything itself.
	rows, err := r.q.Query(r.ctx, `SELECT h.id, s.id, h.rank FROM (
 SELECT rowid AS id, rank FROM `+p.index+` WHERE `+p.index+` MATCH ? ORDER BY +rank, rowid LIMIT ?) h
 LEFT JOIN messages m ON m.id = h.id LEFT JOIN sessions s ON s.id = m.session_id ORDER BY h.rank, h.id`,
		p.expr, r.m.Offset+r.m.Limit)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	var hits []engine.Hit
	for rows.Next() {
		var h engine.Hit
		var session *string
		if err := rows.Scan(&h.MessageID, &session, &h.Rank); err != nil {
			return false, err
		}
		if session == nil {
			return false, nil // the index knows a message that is gone
		}
		h.SessionID = *session
		hits = append(hits, h)
	}
	for _, h := range hits {
		if !r.deliver(h) {
			break
		}
	}
	return true, rows.Err()
}
