package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/scan"
)

// tx is one transaction. It implements [engine.Execer]. A connection answers one
// query at a time, so a result that is still being read is taken into memory when
// the next statement comes.
type tx struct {
	store  *store
	conn   *pgx.Conn
	writes bool
	open   *rows
	made   map[any]int64 // ids of odd values that this transaction made
	said   int64         // messages that were written, or a few more
	looked *looked       // by the first search in it
}

// Query implements [engine.Queryer].
func (t *tx) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	t.settle()
	query = numbered(query)
	for {
		raw, err := t.conn.Query(ctx, query, t.params(args)...)
		if err == nil {
			r := &rows{tx: t, ctx: ctx, raw: raw, says: t.says(query)}
			t.open = r
			return r, nil
		}
		raw.Close()
		if err = t.learn(ctx, err); err != nil {
			return nil, t.mapError(err)
		}
	}
}

// learn gives an odd value that an error is about an id; then the statement can
// be tried again.
func (t *tx) learn(ctx context.Context, err error) error {
	var unknown *unknownOdd
	if !errors.As(err, &unknown) {
		return err
	}
	return t.keepOdd(ctx, unknown.value)
}

// QueryRow implements [engine.Queryer].
func (t *tx) QueryRow(ctx context.Context, query string, args ...any) engine.Row {
	r, err := t.Query(ctx, query, args...)
	return row{r, err}
}

// QueryColumns implements [engine.Queryer].
func (t *tx) QueryColumns(ctx context.Context, columns, rest string, args ...any) (engine.Rows, error) {
	return t.Query(ctx, `SELECT `+columns+` `+rest, args...)
}

// Exec implements [engine.Execer].
func (t *tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.settle()
	query = numbered(query)
	for {
		tag, err := t.conn.Exec(ctx, query, t.params(args)...)
		if err == nil {
			if t.says(query) {
				t.said += tag.RowsAffected()
			}
			return tag.RowsAffected(), nil
		}
		if err = t.learn(ctx, err); err != nil {
			return 0, t.mapError(err)
		}
	}
}

// mapError is mapError, but that who may not read does not hear of writing.
func (t *tx) mapError(err error) error {
	if !t.writes && sqlState(err) == insufficientRights {
		return named(fs.ErrPermission, err)
	}
	return mapError(err)
}

// settle takes the rest of a result that is still open into memory.
func (t *tx) settle() {
	if t.open != nil {
		t.open.drain()
	}
}

// end closes a result that was left open.
func (t *tx) end() {
	if t.open != nil {
		_ = t.open.Close()
	}
}

// rows is a result that is being read.
type rows struct {
	tx   *tx
	ctx  context.Context
	raw  pgx.Rows // nil once all is read
	says bool     // the statement writes messages
	rest [][]any  // what was taken into memory
	vals []any
	err  error
}

// drain reads what is left into memory.
func (r *rows) drain() {
	if r.raw == nil {
		return
	}
	for r.raw.Next() {
		vals, err := r.raw.Values()
		if err != nil {
			r.fail(err)
			break
		}
		r.rest = append(r.rest, vals)
	}
	r.finish()
}

// finish lets the connection go.
func (r *rows) finish() {
	if r.raw == nil {
		return
	}
	r.raw.Close()
	if err := r.raw.Err(); err != nil {
		r.fail(err)
	}
	if r.says {
		r.tx.said += r.raw.CommandTag().RowsAffected()
	}
	r.raw = nil
	if r.tx.open == r {
		r.tx.open = nil
	}
}

func (r *rows) fail(err error) {
	if r.err == nil {
		r.err = r.tx.mapError(err)
	}
}

func (r *rows) Next() bool {
	if r.vals = nil; r.err == nil {
		r.err = r.ctx.Err()
	}
	switch {
	case r.err != nil && r.raw == nil:
		return false
	case len(r.rest) > 0:
		r.vals, r.rest = r.rest[0], r.rest[1:]
	case r.raw == nil:
		return false
	case r.raw.Next():
		vals, err := r.raw.Values()
		if err != nil {
			r.fail(err)
		}
		r.vals = vals
	default:
		r.finish()
		return false
	}
	for i, v := range r.vals {
		r.vals[i] = r.value(v)
	}
	return r.err == nil
}

// value is a value as the rules know it: nil, an int64, a float64, a bool, a
// string, or bytes that are no text.
func (r *rows) value(v any) any {
	switch n := v.(type) {
	case string:
		return plain(decodeValue(n))
	case int32:
		return int64(n)
	case int16:
		return int64(n)
	case float64, pgtype.Numeric:
	default:
		return v
	}
	id, ok := oddIn(v)
	if n, isNumeric := v.(pgtype.Numeric); isNumeric && !ok {
		return fromNumeric(n)
	}
	if !ok {
		return v
	}
	r.drain() // the connection is needed
	v, err := r.tx.findOdd(r.ctx, id)
	if err != nil {
		r.fail(err)
	}
	return plain(v)
}

// fromNumeric is a sum, which the server makes of integers.
func fromNumeric(n pgtype.Numeric) any {
	if !n.Valid {
		return nil
	}
	if i, err := n.Int64Value(); err == nil && i.Valid {
		return i.Int64
	}
	f, err := n.Float64Value()
	if err != nil {
		return math.NaN()
	}
	return f.Float64
}

func (r *rows) Scan(dest ...any) error {
	if len(dest) != len(r.vals) {
		return fmt.Errorf("scan: %d columns into %d targets", len(r.vals), len(dest))
	}
	for i, d := range dest {
		if err := scan.Assign(d, r.vals[i]); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}

func (r *rows) Err() error { return r.err }

// Close ends the reading. It is safe to call it again.
func (r *rows) Close() error {
	r.rest = nil
	r.finish()
	return r.err
}

// row is the first row of a result, or what went wrong with it.
type row struct {
	rows engine.Rows
	err  error
}

func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}
