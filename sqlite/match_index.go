package sqlite

import (
	"context"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// The full-text indexes.
const (
	wordIndex = "messages_fts"
	gramIndex = "messages_fts_trigram"
)

// textIndex is what an index of a file can answer.
type textIndex struct {
	contentOnly bool // tools are not in it
	noTools     bool // messages of the role tool are not in it
	padded      bool // every text in it ends with spaces
}

// textIndexes are the indexes that a search may use.
type textIndexes struct {
	words, grams *textIndex
	missing      bool
	broken       bool
}

var externalContent = text.Regexp(`[(,]\s*content\s*=`)

// schemaIndexes is what a schema says of the indexes, and the number of that
// schema.
type schemaIndexes struct {
	cookie  int64
	indexes textIndexes
}

// textIndexes tells which indexes a search of this snapshot may use. The schema
// is read again when it has changed.
func (s *store) textIndexes(ctx context.Context, q engine.Queryer) (*textIndexes, error) {
	var cookie int64
	if err := q.QueryRow(ctx, `PRAGMA schema_version`).Scan(&cookie); err != nil {
		return nil, err
	}
	d := s.inSchema.Load()
	if d == nil || d.cookie != cookie {
		ix, err := s.readIndexes(ctx, q)
		if err != nil {
			return nil, err
		}
		d = &schemaIndexes{cookie, *ix}
		s.inSchema.Store(d)
	}
	out := d.indexes
	return &out, out.skipStale(ctx, q)
}

// readIndexes looks at the indexes of the file. Newer and older programs
// declared them in other ways.
func (s *store) readIndexes(ctx context.Context, q engine.Queryer) (*textIndexes, error) {
	rows, err := q.Query(ctx, `SELECT name, sql FROM main.sqlite_master WHERE name IN (?, ?) AND type = 'table'`, wordIndex, gramIndex)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := &textIndexes{}
	for rows.Next() {
		var name, sql string
		if err := rows.Scan(&name, &sql); err != nil {
			return nil, err
		}
		ix := &textIndex{}
		columns := strings.Contains(sql, "tool_calls")
		// Without a copy, but over the same text, an index answers the same.
		bare := externalContent().MatchString(sql) && !same(sql, external.find(name).sql)
		ix.contentOnly = bare && !columns
		ix.padded = !bare
		if name == wordIndex {
			out.words = ix
		} else {
			ix.noTools = bare && columns
			out.grams = ix
		}
	}
	out.missing = out.words == nil || out.grams == nil && s.shape.version >= 10
	return out, rows.Err()
}

// skipStale uses no index when messages were stored past them.
func (x *textIndexes) skipStale(ctx context.Context, q engine.Queryer) error {
	var n int64
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM state_meta WHERE key = ?`, staleKey).Scan(&n)
	if n > 0 {
		x.words, x.grams, x.broken = nil, nil, true
	}
	return err
}

func (x *textIndexes) used() bool { return x.words != nil || x.grams != nil }

// giveUp stops using an index that gave an error: first the one for fragments,
// then the other.
func (x *textIndexes) giveUp() {
	x.broken = true
	if x.grams != nil {
		x.grams = nil
		return
	}
	x.words = nil
}

func (x *textIndexes) notices() []string {
	switch {
	case x.broken:
		return []string{"a full-text index cannot be read: messages were searched one by one"}
	case x.missing:
		return []string{"a full-text index is missing: messages were searched one by one"}
	}
	return nil
}
