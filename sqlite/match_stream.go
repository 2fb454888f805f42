package sqlite

import (
	"math"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// idStream reads by id what an index finds of a term, as far as it is wanted. To ask
// for each part of it would let FTS5 find all messages with an unfinished word each
// time.
type idStream struct {
	index, expr string      // empty where all ids are there
	rows        engine.Rows // nil before the first part
	from        int64       // where rows begin
	read        bool        // at is the id of a row
	at          int64
	ids         map[int64]bool
}

// open says what is read of each term, and reads at once what can't be read in parts.
func (w *walker) open() error {
	c := &compiler{matching: w.matching, terms: map[*searchql.Term]*termPlan{}}
	if err := c.addPrimary(w.m.Query.Root); err != nil {
		return err
	}
	for t, plan := range c.terms {
		switch s := plan.sources[0]; {
		case s.index != "":
			w.found[t] = newStream(s.index, s.expr)
		case s.whole:
			ids, err := w.ids(s.query)
			if err != nil {
				return err
			}
			w.found[t] = &idStream{ids: ids}
		}
	}
	return nil
}

func newStream(index, expr string) *idStream {
	return &idStream{index: index, expr: expr, ids: map[int64]bool{}}
}

func (w *walker) close() {
	for _, streams := range []map[*searchql.Term]*idStream{w.found, w.fragments} {
		for _, s := range streams {
			s.close()
		}
	}
}

func (s *idStream) close() {
	if s.rows != nil {
		_ = s.rows.Close()
	}
}

// candidates returns the messages of a part that hold a term as a fragment and were not
// found by their words. Each index is read once for all parts.
func (w *walker) candidates(t *searchql.Term, part []timed, ids idRange) ([]int64, error) {
	s, ok := w.fragments[t]
	if !ok {
		s = newStream(gramIndex, quote(t.Text))
		w.fragments[t] = s
	}
	if err := w.readTo(s, ids); err != nil {
		return nil, err
	}
	found := w.found[t]
	return slices.DeleteFunc(s.among(part), func(id int64) bool { return found.ids[id] }), nil
}

// readTo reads on until all ids of a range are there.
func (w *walker) readTo(s *idStream, ids idRange) error {
	if s.index == "" {
		return nil
	}
	if err := w.begin(s, ids); err != nil {
		return err
	}
	for !s.read || w.up() && s.at <= ids.last || !w.up() && s.at >= ids.first {
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

// up says that the walk goes from the first id on, else from the last.
func (w *walker) up() bool { return w.m.Order == engine.Oldest }

// spareIDs is how far before a walk an index is read: ids and times need not agree.
const spareIDs = farApart * firstPart

// begin begins to read where the walk does, since a condition may let it begin far
// from the end. If it comes to what lies before that after all, all is read.
func (w *walker) begin(s *idStream, ids idRange) error {
	if s.rows != nil {
		if w.up() && ids.first >= s.from || !w.up() && ids.last <= s.from {
			return nil
		}
		s.close()
	}
	first := s.rows == nil
	var op, dir string
	switch op, dir, s.from = ` <= `, ` DESC`, math.MaxInt64; {
	case w.up():
		op, dir, s.from = ` >= `, ``, math.MinInt64
		if first && ids.first > math.MinInt64+spareIDs {
			s.from = ids.first - spareIDs
		}
	case first && ids.last < math.MaxInt64-spareIDs:
		s.from = ids.last + spareIDs
	}
	s.read = false
	var err error
	s.rows, err = w.q.Query(w.ctx, matchSQL(s.index)+` AND rowid`+op+`? ORDER BY rowid`+dir, s.expr, s.from)
	return err
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
