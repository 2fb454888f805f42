package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// splitFrom is how far apart the first and the last message of a store are at least
// where two connections rank half of its messages each. FTS5 computes the rank of
// every match, which is most of what a common word costs.
const splitFrom = 200_000

// best returns the n best hits of an index. Each half gives its n best: the rank of
// a message depends on all that the index has, whichever part is read.
func (r *matching) best(p *matchPlan, n int) ([]engine.Hit, error) {
	lower, upper, ok := r.halves()
	if !ok {
		return r.bestBetween(r.q, p, n, nil)
	}
	t := r.store.secondOfIndex(r.ctx, r.q, p.index)
	if t == nil {
		return r.bestBetween(r.q, p, n, nil)
	}
	var old []engine.Hit
	var oldErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		old, oldErr = r.bestBetween(t, p, n, lower)
		r.store.endRead(t, oldErr)
	}()
	best, err := r.bestBetween(r.q, p, n, upper)
	<-done
	if err == nil && oldErr != nil { // whatever it is, here it is told as ever
		old, err = r.bestBetween(r.q, p, n, lower)
	}
	if err != nil {
		return nil, err
	}
	best = append(best, old...)
	slices.SortFunc(best, func(a, b engine.Hit) int {
		ids := cmp.Compare(a.MessageID, b.MessageID)
		if p.newestTies {
			ids = -ids
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), ids)
	})
	return best[:min(n, len(best))], nil
}

// halves are the ids of the older and of the newer messages of a store that is
// large enough to be read in two parts.
func (r *matching) halves() (lower, upper *idRange, ok bool) {
	if runtime.GOMAXPROCS(0) < 2 {
		return nil, nil, false
	}
	var all idRange
	err := r.q.QueryRow(r.quick, `SELECT (SELECT MIN(id) FROM messages), (SELECT MAX(id) FROM messages)`).Scan(&all.first, &all.last)
	if err != nil || all.first < 0 || all.last-all.first < r.store.split {
		return nil, nil, false
	}
	middle := all.first + (all.last-all.first)/2
	return &idRange{math.MinInt64, middle}, &idRange{middle + 1, math.MaxInt64}, true
}

// bestBetween returns the n best hits of an index, or of those with ids between two.
func (r *matching) bestBetween(q engine.Queryer, p *matchPlan, n int, ids *idRange) (best []engine.Hit, err error) {
	query, args := p.bestSQL(``), []any{p.expr, n, 0}
	if ids != nil {
		query, args = p.bestSQL(` AND rowid BETWEEN ? AND ?`), []any{p.expr, ids.first, ids.last, n, 0}
	}
	rows, err := q.Query(r.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h engine.Hit
		if err := rows.Scan(&h.MessageID, &h.Rank); err != nil {
			return nil, err
		}
		best = append(best, h)
	}
	return best, rows.Err()
}

// secondOfIndex begins a transaction that finds in an index what q finds, or returns
// nil where none is free or somebody wrote into the index since q began.
func (s *store) secondOfIndex(ctx context.Context, q engine.Queryer, index string) *readTx {
	first, ok := q.(*readTx)
	if !ok || first.salvage != nil {
		return nil
	}
	c, err := s.readers.tryTake(ctx)
	if c == nil || err != nil {
		return nil
	}
	t, err := s.beginRead(c)
	if err != nil {
		return nil
	}
	ours, err := indexState(ctx, first, index)
	theirs, e := indexState(ctx, t, index)
	if err = errors.Join(err, e); err != nil || !bytes.Equal(ours, theirs) {
		s.endRead(t, err)
		return nil
	}
	return t
}

// indexState is what no change of an index leaves as it was: how many rows and words
// it has, and the list of its segments, of which every change makes a new one
// (https://sqlite.org/fts5.html, the records 1 and 10 of its table of data).
func indexState(ctx context.Context, t *readTx, index string) (state []byte, err error) {
	rows, err := t.Query(context.WithoutCancel(ctx), `SELECT block FROM `+index+`_data WHERE id IN (1, 10) ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var block []byte
		if err := rows.Scan(&block); err != nil {
			return nil, err
		}
		state = append(state, block...)
	}
	return state, rows.Err()
}
