package sqlite

import (
	"context"
	"errors"
	"math"

	"github.com/sessiondb-go/sessiondb"
)

// readable calls each for every row of a table that can be read, with all its
// columns and without an index, by rowid: the values are the rowid and the
// columns, valid until it returns. whole is false when rows are missing.
func readable(ctx context.Context, c *conn, table string, each func(row []any) error) (whole bool, err error) {
	w := &rowWalk{ctx: ctx, c: c, table: table, from: math.MinInt64}
	for whole = true; ; whole = false {
		err := w.run(each)
		if err == nil || !errors.Is(err, sessiondb.ErrCorrupt) {
			return whole, err
		}
		ok, err := w.pastHole()
		if err != nil || !ok {
			return false, err
		}
	}
}

// rowWalk goes through a table by rowid.
type rowWalk struct {
	ctx   context.Context
	c     *conn
	table string
	from  int64 // everything before is done
	row   []any
}

// run reads rows from w.from on, up to the end or an error.
func (w *rowWalk) run(each func(row []any) error) error {
	rows, err := w.c.query(w.ctx, "SELECT rowid, * FROM main."+w.table+" NOT INDEXED WHERE rowid >= ? ORDER BY rowid", w.from)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		id, ok := rows.vals[0].(int64)
		if !ok || id < w.from {
			return sessiondb.ErrCorrupt // pages that lead back
		}
		w.row = w.row[:0]
		for _, v := range rows.vals {
			w.row = append(w.row, v)
		}
		if err := each(w.row); err != nil {
			return err
		}
		if id == math.MaxInt64 {
			return nil
		}
		w.from = id + 1
	}
	return rows.Err()
}

// patience is how many rowids in a row are tried one by one. A page of the table
// holds fewer; a lost page above others may hide more.
const patience = 1 << 14

// pastHole moves w.from to the next row that can be read. Rowids are tried one by
// one, so that nothing readable is passed; then in steps that double, and back to
// the edge of the hole.
func (w *rowWalk) pastHole() (bool, error) {
	bad := w.from
	if bad == math.MinInt64 {
		bad = 0 // where SQLite begins
	}
	for range patience {
		if found, at, err := w.probe(bad); found || err != nil || at {
			return found, err
		}
		if bad == math.MaxInt64 {
			return false, nil
		}
		bad++
	}
	for step := int64(1); ; step *= 2 {
		next := bad + step
		if next < bad || step <= 0 {
			return false, nil
		}
		found, end, err := w.probe(next)
		switch {
		case err != nil:
			return false, err
		case end || found:
			return w.edge(bad, next)
		}
		bad = next
	}
}

// edge finds, between a rowid that can't be read and one from which on reading
// works, where that begins.
func (w *rowWalk) edge(bad, good int64) (bool, error) {
	for good-bad > 1 {
		mid := bad + (good-bad)/2
		found, end, err := w.probe(mid)
		if err != nil {
			return false, err
		}
		if found || end {
			good = mid
		} else {
			bad = mid
		}
	}
	found, _, err := w.probe(good)
	return found, err
}

// probe tries to read the first row from a rowid on. If it is found, the walk
// goes on there; end says that there is none.
func (w *rowWalk) probe(rowid int64) (found, end bool, err error) {
	rows, err := w.c.query(w.ctx, "SELECT rowid, * FROM main."+w.table+" NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1", rowid)
	if err == nil {
		found = rows.Next()
		if found {
			id, ok := rows.vals[0].(int64)
			if found = ok && id >= rowid; found {
				w.from = id
			} else {
				err = sessiondb.ErrCorrupt
			}
		}
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	if errors.Is(err, sessiondb.ErrCorrupt) {
		return false, false, nil
	}
	return found, err == nil && !found, err
}
