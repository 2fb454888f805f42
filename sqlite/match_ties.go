package sqlite

import (
	"encoding/json"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// maxTie is the largest group of hits of one time that is put in order of rank;
// a larger one stays in order of id.
const maxTie = 5000

// deliverGroup delivers hits of one time, given by id.
func (r *matching) deliverGroup(p *matchPlan, group []engine.Hit) error {
	if len(group) > 1 && len(group) <= maxTie {
		if err := r.rankGroup(p, group); err != nil {
			return err
		}
	}
	for _, h := range group {
		if !r.deliver(h) {
			return nil
		}
	}
	return nil
}

// rankGroup sorts hits by rank, where one index gives it.
func (r *matching) rankGroup(p *matchPlan, group []engine.Hit) error {
	if p.index == "" {
		return nil
	}
	ids := make([]int64, len(group))
	for i, h := range group {
		ids[i] = h.MessageID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := r.q.Query(r.ctx, `SELECT rowid, rank FROM `+p.index+` WHERE `+p.index+` MATCH ?
 AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))`, p.expr, ids[0], ids[len(ids)-1], string(list))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	ranks := map[int64]float64{}
	for rows.Next() {
		var id int64
		var rank float64
		if err := rows.Scan(&id, &rank); err != nil {
			return err
		}
		ranks[id] = rank
	}
	slices.SortStableFunc(group, func(a, b engine.Hit) int {
		switch d := ranks[a.MessageID] - ranks[b.MessageID]; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	return rows.Err()
}
