package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
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
		if err := assign(d, r.vals[i]); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
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

// assign stores a value of the driver in a target, as database/sql does.
func assign(dest any, v sqldriver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(v)
	case *any:
		*d = v
		return nil
	case *[]byte:
		var n sql.Null[[]byte]
		err := n.Scan(v)
		*d = n.V
		return err
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *float64:
		if f, ok := v.(float64); ok {
			*d = f
			return nil
		}
	}
	target := reflect.ValueOf(dest)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("target %T is no pointer", dest)
	}
	return assignKind(target.Elem(), v)
}

// assignKind is assign for any type made of a scalar or a pointer; a pointer
// becomes nil for NULL.
func assignKind(target reflect.Value, v sqldriver.Value) (err error) {
	switch target.Kind() {
	case reflect.Pointer:
		target.SetZero()
		if v != nil {
			p := reflect.New(target.Type().Elem())
			if err = assign(p.Interface(), v); err == nil {
				target.Set(p)
			}
		}
	case reflect.String:
		var s string
		s, err = convert[string](v)
		target.SetString(s)
	case reflect.Int, reflect.Int64, reflect.Int32:
		var n int64
		n, err = convert[int64](v)
		target.SetInt(n)
	case reflect.Float64:
		var f float64
		f, err = convert[float64](v)
		target.SetFloat(f)
	case reflect.Bool:
		var b bool
		b, err = convert[bool](v)
		target.SetBool(b)
	default:
		err = fmt.Errorf("unsupported target %s", target.Type())
	}
	return err
}

// convert applies the rules of database/sql; NULL has no value.
func convert[T any](v sqldriver.Value) (T, error) {
	var n sql.Null[T]
	err := n.Scan(v)
	if err == nil && !n.Valid {
		err = fmt.Errorf("NULL into %T", n.V)
	}
	return n.V, err
}
