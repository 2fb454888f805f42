package sqlite

import (
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// idStream reads by id what an index finds of a term, as far as it is wanted. To ask
// for each part of it would let FTS5 find all messages with an unfinished word each
// time.
type idStream struct {
	rows engine.Rows
	up   bool // from the first id on, else from the last
	read bool // at is the id of a row
	at   int64
	ids  map[int64]bool
}

// open begins to read what the index of the plan finds of each term.
func (w *walker) open() error {
	c := &compiler{matching: w.matching, terms: map[*searchql.Term]*termPlan{}}
	if err := c.addPrimary(w.m.Query.Root); err != nil {
		return err
	}
	up, dir := w.m.Order == engine.Oldest, ``
	if !up {
		dir = ` DESC`
	}
	w.found = map[*searchql.Term]*idStream{}
	for t, plan := range c.terms {
		rows, err := w.q.Query(w.ctx, matchSQL(w.plan.index)+` ORDER BY rowid`+dir, plan.sources[0].expr)
		if err != nil {
			return err
		}
		w.found[t] = &idStream{rows: rows, up: up, ids: map[int64]bool{}}
	}
	return nil
}

func (w *walker) close() {
	for _, s := range w.found {
		_ = s.rows.Close()
	}
}

// readTo reads on until all ids of a range are there.
func (s *idStream) readTo(ids idRange) error {
	for !s.read || s.up && s.at <= ids.last || !s.up && s.at >= ids.first {
		if !s.rows.Next() {
			return s.rows.Err()
		}
		if err := s.rows.Scan(&s.at); err != nil {
			return err
		}
		s.read, s.ids[s.at] = true, true
	}
	return nil
}

// among is a query for those of some messages that were found.
func (s *idStream) among(part []timed) fragment {
	found := make([]int64, 0, len(part))
	for _, m := range part {
		if s.ids[m.MessageID] {
			found = append(found, m.MessageID)
		}
	}
	return listed(found)
}
