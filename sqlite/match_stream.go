package sqlite

import (
	"slices"

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
	for t, plan := range c.terms {
		var err error
		if w.found[t], err = w.read(w.plan.index, plan.sources[0].expr); err != nil {
			return err
		}
	}
	return nil
}

// read begins to read what an index finds.
func (w *walker) read(index, expr string) (*idStream, error) {
	up, dir := w.m.Order == engine.Oldest, ``
	if !up {
		dir = ` DESC`
	}
	rows, err := w.q.Query(w.ctx, matchSQL(index)+` ORDER BY rowid`+dir, expr)
	if err != nil {
		return nil, err
	}
	s := &idStream{rows: rows, up: up, ids: map[int64]bool{}}
	w.opened = append(w.opened, s)
	return s, nil
}

func (w *walker) close() {
	for _, s := range w.opened {
		_ = s.rows.Close()
	}
}

// candidates returns the messages of a part that hold a term as a fragment and were not
// found by their words. Each index is read once for all parts.
func (w *walker) candidates(t *searchql.Term, part []timed, ids idRange) ([]int64, error) {
	s, ok := w.fragments[t]
	if !ok {
		var err error
		if s, err = w.read(gramIndex, quote(t.Text)); err != nil {
			return nil, err
		}
		w.fragments[t] = s
	}
	if err := s.readTo(ids); err != nil {
		return nil, err
	}
	found := w.found[t]
	return slices.DeleteFunc(s.among(part), func(id int64) bool { return found.ids[id] }), nil
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

// among returns those of some messages that were found.
func (s *idStream) among(part []timed) []int64 {
	found := make([]int64, 0, len(part))
	for _, m := range part {
		if s.ids[m.MessageID] {
			found = append(found, m.MessageID)
		}
	}
	return found
}
