package postgres

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// Messages wait for a moment until they are in the index. A search makes the terms of
// those that it may find and hands them over, as rows like those of the table, in which
// it looks a second time: what is found, and in which order, is the same before and
// after, and the index is asked as if nothing waited.

// looked is what a search has to know first.
type looked struct {
	waits   bool // messages wait for the index
	several bool // some in the index have several parts
}

// These are for looked. Where the server has no statistics yet, for a table that was
// just filled, it would read all of it to find whether a row EXISTS; the least one it
// looks up.
const (
	waitsSQL   = `(SELECT MIN(id) FROM sessiondb_unindexed) IS NOT NULL`
	severalSQL = `(SELECT MIN(message_id) FROM sessiondb_terms WHERE part > 0) IS NOT NULL`
	lookSQL    = `SELECT ` + waitsSQL + `, ` + severalSQL
	lookOldSQL = `SELECT ` + waitsSQL + `, false` // where no index knows the other
)

// look finds out what a search has to know first.
func (t *tx) look(ctx context.Context) error {
	if t.looked != nil {
		return nil
	}
	l := &looked{}
	sql := lookSQL
	if !t.store.knowsParts {
		sql = lookOldSQL
	}
	err := t.QueryRow(ctx, sql).Scan(&l.waits, &l.several)
	if err == nil {
		t.looked = l
	}
	return err
}

// waiting are the terms of the messages that wait and that a query may find; nil where
// there is none.
func (t *tx) waiting(ctx context.Context, q searchql.Query) (*termRows, error) {
	if !t.looked.waits {
		return nil, nil
	}
	t.store.indexer.look()
	parts := said.parts
	if _, ok := (&compiler{}).combined(q.Root, false); ok {
		parts = said.wordsAlone // most of a message's terms are fragments
	}
	var patterns []text.Pattern
	for _, t := range q.Terms() {
		patterns = append(patterns, patternOf(t))
	}
	var rows termRows
	err := t.eachText(ctx, func(id int64, m said) {
		if m.holds(patterns...) {
			rows.add(id, parts(m))
		}
	}, waitingSQL)
	if err != nil || len(rows.ids) == 0 {
		return nil, err
	}
	return &rows, nil
}

const waitingSQL = `SELECT m.id, ` + textColumns + ` FROM messages m WHERE m.id = ANY(ARRAY(SELECT id FROM sessiondb_unindexed))`

// termRows are rows of sessiondb_terms that are not there.
type termRows struct {
	ids, parts   []int64
	words, grams []string
}

func (r *termRows) add(id int64, parts []part) {
	for i, p := range parts {
		r.ids, r.parts = append(r.ids, id), append(r.parts, int64(i))
		r.words, r.grams = append(r.words, p.words), append(r.grams, p.grams)
	}
}

// sql selects the rows.
func (r *termRows) sql() fragment {
	return fragment{`SELECT message_id, part::int, words::tsvector, grams::tsvector
 FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[]) made(message_id, part, words, grams)`, []any{r.ids, r.parts, r.words, r.grams}}
}

// before puts the rows before a statement that calls them waiting.
func (r *termRows) before(f fragment) fragment {
	if r == nil {
		return f
	}
	rows := r.sql()
	return fragment{`WITH waiting AS MATERIALIZED (` + rows.sql + `) `, rows.args}.and(f.sql, f.args...)
}

// several says that a message has several of the rows.
func (r *termRows) several() bool {
	return slices.ContainsFunc(r.parts, func(part int64) bool { return part > 0 })
}
