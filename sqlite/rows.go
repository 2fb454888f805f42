package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/scan"
)

// rows is a result that is being read.
type rows struct {
	raw  sqldriver.Rows
	stmt *stmt
	conn *conn
	ctx  context.Context
	vals []sqldriver.Value
	err  error
	note func(error) // hears of errors, may be nil
	wide *receiver   // gets the columns, nil if they come one by one
	row  [1]sqldriver.Value
}

func (r *rows) Next() bool {
	if r.raw == nil || r.err != nil {
		return false
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return false
	}
	err := r.next()
	if err == nil || err == io.EOF {
		r.conn.saw = true
	}
	if err == nil {
		return true
	}
	if !errors.Is(err, io.EOF) {
		r.fail(mapError(r.ctx, err))
	}
	if err := r.Close(); err != nil {
		r.fail(err)
	}
	return false
}

// next reads a row into vals.
func (r *rows) next() (err error) {
	if r.wide != nil {
		if err = r.raw.Next(r.row[:]); err == nil {
			r.vals, err = r.wide.take(r.row[0], r.vals)
		}
		return err
	}
	if r.vals == nil {
		r.vals = make([]sqldriver.Value, len(r.raw.Columns()))
	}
	return r.raw.Next(r.vals)
}

func (r *rows) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	if r.note != nil {
		r.note(err)
	}
}

func (r *rows) Scan(dest ...any) error {
	if len(dest) != len(r.vals) {
		return fmt.Errorf("scan: %d columns into %d targets", len(r.vals), len(dest))
	}
	for i, d := range dest {
		if err := hand(d, r.vals[i]); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}

// hand stores a value in a target: one of the driver, or a pointer to a text
// that nobody else has.
func hand(dest any, v sqldriver.Value) error {
	s, ok := v.(*string)
	if !ok {
		return scan.Assign(dest, v)
	}
	if d, ok := dest.(engine.TextScanner); ok {
		return d.ScanText(s)
	}
	return scan.Assign(dest, *s)
}

func (r *rows) Err() error { return r.err }

// Close ends the reading. It is safe to call it again.
func (r *rows) Close() error {
	if r.raw == nil {
		return nil
	}
	err := r.raw.Close()
	r.stmt.release()
	r.raw = nil
	if r.wide != nil {
		receivers.remove(r.wide)
	}
	if i := slices.Index(r.conn.open, r); i >= 0 {
		r.conn.open = slices.Delete(r.conn.open, i, i+1)
	}
	return mapError(r.ctx, err)
}

// row is the first row of a result, or what went wrong with it.
type row struct {
	rows *rows
	err  error
}

func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		if r.rows.err != nil {
			return r.rows.err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}
