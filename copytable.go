package sessiondb

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// copyTable is a table as a copy sees it.
type copyTable struct {
	name    string
	key     []string // what tells its rows apart
	columns []string // the key comes first
	own     ownTable // one that is made when it is needed; nil for what every store has
	where   string   // rows that are copied; empty is all
}

// ownTable is a table of our own: one that is made when it is needed.
type ownTable interface {
	exists(ctx context.Context, q engine.Queryer) (bool, error)
	make(ctx context.Context, tx engine.Execer) error
}

// Keys of our own tell what a store has beside its rows: each store has its own,
// but for how far sessions were imported.
var copyTables = []*copyTable{
	{name: "sessions", key: []string{"id"}, columns: sessionColumns},
	{name: "messages", key: []string{"id"}, columns: messageColumns},
	{name: "state_meta", key: []string{"key"}, columns: []string{"key", "value"}, where: `(key NOT LIKE 'sessiondb\_%' ESCAPE '\' OR key LIKE 'sessiondb\_import:%' ESCAPE '\')`},
	{name: orphansTable.name, key: []string{"session_id"}, columns: []string{"session_id", "parent_id", "kind", "orphaned_at"}, own: &orphansTable},
	{name: modelUsageTable.name, key: []string{"session_id", "model"}, columns: append([]string{"session_id", "model"}, usageColumns...), own: &modelUsageTable},
	{name: tagsTable.name, key: []string{"session_id", "tag"}, columns: []string{"session_id", "tag"}, own: &tagsTable},
	{name: trashTable.name, key: []string{"id"}, columns: []string{"id", "session_id", "parent_id", "kind", "deleted_at", "sessions", "messages"}, own: &trashTable},
	inTrash(0, sessionColumns),
	inTrash(1, messageColumns),
	inTrash(2, []string{"session_id", "parent_id", "kind", "orphaned_at"}),
	inTrash(3, append([]string{"session_id", "model"}, usageColumns...)),
	inTrash(4, nil),
	{name: appendsTable.name, key: []string{"session_id", "key"}, columns: []string{"session_id", "key", "message_ids", "appended_at"}, own: &appendsTable},
}

// inTrash is where the rows of a table are in the trash.
func inTrash(i int, columns []string) *copyTable {
	t := trashedTables[i]
	key := append([]string{"trash_id"}, t.within...)
	columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(key, c) })
	return &copyTable{name: t.trash(), key: key, columns: append(key, columns...), own: t}
}

var sessionsCopied, messagesCopied, metaCopied, usageCopied, trashedMessagesCopied = copyTables[0], copyTables[1], copyTables[2], copyTables[4], copyTables[8]

// order is what rows are read by: sessions as they were created, others by key.
func (t *copyTable) order(db *DB) []string {
	switch created := db.engine.Info().CreationOrder; {
	case t != sessionsCopied:
		return t.key
	case created == "":
		return []string{"started_at", "id"}
	default:
		return []string{created}
	}
}

// in is whether a store has the table.
func (t *copyTable) in(ctx context.Context, q engine.Queryer) (bool, error) {
	if t.own == nil {
		return true, nil
	}
	return t.own.exists(ctx, q)
}

// filter is the condition of the table, and one more.
func (t *copyTable) filter(more string) string {
	conditions := slices.DeleteFunc([]string{t.where, more}, func(s string) bool { return s == "" })
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

func (t *copyTable) count(ctx context.Context, q engine.Queryer) (n int64, err error) {
	if some, err := t.in(ctx, q); err != nil || !some {
		return 0, err
	}
	err = q.QueryRow(ctx, `SELECT COUNT(*) FROM `+t.name+t.filter("")).Scan(&n)
	return n, err
}

// A page of rows has so many at most, and fewer where they are long.
const (
	copyRows    = 1000
	copyFewRows = 16
	copyBytes   = 4 << 20
)

// page reads the rows after one, in the order of some columns, as they are stored.
// next is where the page after it begins; nil rows are the end.
func (t *copyTable) page(ctx context.Context, q engine.Queryer, order []string, after []any, limit int) (rows [][]any, next []any, err error) {
	by := strings.Join(order, ", ")
	rest, args := t.filter(""), after
	if after != nil {
		rest = t.filter("(" + by + ") > (" + placeholders(len(order)) + ")")
	}
	rows, err = t.read(ctx, q, order, rest+" ORDER BY "+by+" LIMIT ?", append(slices.Clone(args), limit)...)
	for i, row := range rows {
		rows[i], next = row[:len(t.columns):len(t.columns)], row[len(t.columns):]
	}
	return rows, next, err
}

// find reads the rows of some keys, by encoded key.
func (t *copyTable) find(ctx context.Context, q engine.Queryer, like [][]any) (map[string][]any, error) {
	found := make(map[string][]any, len(like))
	if some, err := t.in(ctx, q); err != nil || !some {
		return found, err
	}
	for part := range slices.Chunk(like, inBatch) {
		var args []any
		for _, row := range part {
			args = append(args, row[:len(t.key)]...)
		}
		which := t.key[0] + ` IN (` + placeholders(len(part)) + `)`
		if len(t.key) > 1 { // a list of VALUES would be one of texts to PostgreSQL
			one := ` OR (` + strings.Join(t.key, ` = ? AND `) + ` = ?)`
			which = `(` + strings.TrimPrefix(strings.Repeat(one, len(part)), ` OR `) + `)`
		}
		rows, err := t.read(ctx, q, nil, t.filter(which), args...)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[t.keyOf(row)] = row
		}
	}
	return found, nil
}

// read reads rows until there are too many bytes of them, and at least one.
func (t *copyTable) read(ctx context.Context, q engine.Queryer, more []string, rest string, args ...any) (out [][]any, err error) {
	n, bounded, size := len(t.columns)+len(more), len(more) > 0, 0
	dest := make([]any, n)
	columns := strings.Join(append(slices.Clone(t.columns), more...), ", ")
	rows, err := q.QueryColumns(ctx, columns, `FROM `+t.name+rest, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for (!bounded || size < copyBytes) && rows.Next() {
		row := make([]any, n)
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		size += rowSize(row)
		out = append(out, row)
	}
	return out, rows.Err()
}

func rowSize(row []any) (n int) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

func (t *copyTable) keyOf(row []any) string { return string(appendRow(nil, row[:len(t.key)])) }

// rowName is how an error names a row.
func (t *copyTable) rowName(row []any) string {
	s := t.name
	for i := range t.key {
		if text, ok := row[i].(string); ok {
			s += fmt.Sprintf(" %q", text)
		} else {
			s += fmt.Sprintf(" %v", row[i])
		}
	}
	return s
}

// appendRow appends values so that the same bytes are the same values of the same
// types.
func appendRow(b []byte, row []any) []byte {
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, 'n')
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v)) // #nosec G115 -- all 64 bits
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v+0)) // no negative zero: a file keeps none
		case string:
			b = append(binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint64(append(b, 'b'), uint64(len(v))), v...)
		default:
			b = fmt.Appendf(append(b, '?'), "%T %v;", v, v)
		}
	}
	return b
}
