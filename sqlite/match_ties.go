package sqlite

import (
	"encoding/json"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// maxTie is the largest group of hits of one time that is put in order of rank;
// a larger one stays in order of id.
const maxTie = 5000

// ties gathers hits of one time, given by id.
type ties struct {
	r     *matching
	p     *matchPlan
	group []engine.Hit
	at    any
}

// add takes the next hit by time, and delivers those of an earlier time.
func (t *ties) add(h engine.Hit, at any) error {
	if len(t.group) > 0 && at != t.at {
		if err := t.deliver(); err != nil {
			return err
		}
	}
	t.group, t.at = append(t.group, h), at
	return nil
}

// deliver delivers the hits of one time by rank.
func (t *ties) deliver() error {
	group := t.group
	t.group = t.group[:0]
	if len(group) > 1 && len(group) <= maxTie && !t.r.done {
		if err := t.r.rankGroup(t.p, group); err != nil {
			return err
		}
	}
	for _, h := range group {
		if t.r.done || !t.r.deliver(h) {
			return nil
		}
	}
	return nil
}

// rankGroup sorts hits by rank, where one index gives it.
func (r *matching) rankGroup(p *matchPlan, group []engine.Hit) error {
	if _, _, ok := p.c.expr(p.root); ok { // it may be that nothing else finds any
		if err := p.complete(); err != nil {
			return err
		}
	}
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
	expr, err := r.rankExpr()
	if err != nil {
		return err
	}
	rows, err := r.q.Query(r.ctx, `SELECT rowid, rank FROM `+p.index+` WHERE `+p.index+` MATCH ?
 AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))`, expr, ids[0], ids[len(ids)-1], string(list))
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

// rankExpr is the expression that gives the ranks of a plan with an index.
func (r *matching) rankExpr() (string, error) {
	c := &compiler{matching: r, terms: map[*searchql.Term]*termPlan{}, ranked: true}
	err := c.addPrimary(r.m.Query.Root)
	_, expr, _ := c.expr(r.m.Query.Root)
	return expr, err
}
