package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// Beside the columns of a row, counted from 0, these are kept of one that can't
// be read as a whole.
const (
	traceID    = -1   // nothing but that there was one
	tracePart  = 1000 // and a column: the beginning of its value
	traceWords = 2000 // what the full-text index holds of a message
)

// put keeps what is known about a column of a row. What came first counts.
func (r *recovery) put(ctx context.Context, t *salvage, id int64, col int, v any) error {
	_, err := r.c.exec(context.WithoutCancel(ctx), "INSERT OR IGNORE INTO temp.traces (tbl, id, col, value) VALUES (?, ?, ?, ?)", t.Name, id, col, v)
	return err
}

// remember keeps what could be read of a row.
func (r *recovery) remember(ctx context.Context, t *salvage, row sqlitefile.Row) error {
	t.damaged = true
	if _, err := r.c.exec(ctx, "INSERT OR IGNORE INTO temp.cuts (tbl, id) VALUES (?, ?)", t.Name, row.ID); err != nil {
		return err
	}
	err := r.put(ctx, t, row.ID, traceID, nil)
	for i, v := range row.Values {
		if i >= len(t.columns) {
			break
		}
		if i == len(row.Values)-1 && row.PartLast {
			i += tracePart
		}
		err = firstError(err, r.put(ctx, t, row.ID, i, v))
	}
	return err
}

// trace looks up what the indexes of damaged tables hold of rows that could not
// be read: which there were, and the values that are indexed.
func (r *recovery) trace(ctx context.Context) error {
	return r.batched(ctx, func(step func() error) error {
		for _, t := range r.tables {
			if !t.damaged || t.keyed {
				continue
			}
			known, err := r.traceTable(ctx, t, step)
			if err == nil && t.Name == "messages" {
				err = r.traceWords(ctx, t, known, step)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// traceTable reads the indexes of a table. known says that one of them is whole
// and holds every row.
func (r *recovery) traceTable(ctx context.Context, t *salvage, step func() error) (known bool, err error) {
	for _, o := range r.objects {
		if o.Type != "index" || o.Table != t.Name || o.Root == 0 {
			continue
		}
		columns, err := r.indexed(ctx, t, o)
		if err != nil {
			return known, err
		}
		w, err := r.src.Index(o.Root, func(row sqlitefile.Row) error {
			if len(row.Values) == 0 || row.Cut {
				return nil
			}
			id, ok := row.Values[len(row.Values)-1].(int64)
			if there, err := r.there(ctx, t, id); !ok || there || err != nil {
				return err
			}
			err := r.put(ctx, t, id, traceID, nil)
			for i, col := range columns {
				if i < len(row.Values)-1 && col >= 0 {
					err = firstError(err, r.put(ctx, t, id, col, row.Values[i]))
				}
			}
			return firstError(err, step())
		})
		if err != nil {
			return known, err
		}
		known = known || w.Whole() && !strings.Contains(strings.ToUpper(o.SQL), "WHERE")
	}
	return known, nil
}

// indexed lists which columns of its table an index holds, -1 for others.
func (r *recovery) indexed(ctx context.Context, t *salvage, o sqlitefile.Object) (out []int, err error) {
	var names []string
	if _, rest, ok := strings.Cut(o.SQL, "("); ok {
		list, _, _ := strings.Cut(rest, ")")
		for part := range strings.SplitSeq(list, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			names = append(names, strings.Trim(name, "\"'`[]"))
		}
	} else if names, err = r.autoIndexed(ctx, o.Name); err != nil {
		return nil, err
	}
	for _, name := range names {
		out = append(out, slices.IndexFunc(t.columns, func(c salvaged) bool { return c.name == name }))
	}
	return out, nil
}

// autoIndexed asks SQLite about an index that it made by itself: the new table
// has the same.
func (r *recovery) autoIndexed(ctx context.Context, index string) (names []string, err error) {
	rows, err := r.c.query(ctx, "SELECT COALESCE(name, '') FROM pragma_index_info(?, 'main') ORDER BY seqno", index)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// there says whether the new table has a row.
func (r *recovery) there(ctx context.Context, t *salvage, id int64) (bool, error) {
	var n int
	name := t.idName
	if t.id >= 0 {
		name = quoted(t.columns[t.id].name)
	}
	err := r.c.queryRow(context.WithoutCancel(ctx), []any{&n}, "SELECT 1 FROM main."+quoted(t.Name)+" WHERE "+name+" = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// traceWords reads what the full-text tables hold of messages that could not be
// read: all of their text. Where an index tells which messages there were, no
// others are believed.
func (r *recovery) traceWords(ctx context.Context, t *salvage, known bool, step func() error) error {
	for _, index := range indexes {
		if !r.keepsText(index) {
			continue
		}
		_, err := r.src.Table(r.object(index+"_content").Root, func(row sqlitefile.Row) error {
			if row.Cut || len(row.Values) < 2 {
				return nil
			}
			if wanted, err := r.wanted(ctx, t, row.ID, known); !wanted || err != nil {
				return err
			}
			err := r.put(ctx, t, row.ID, traceID, nil)
			return firstError(err, r.put(ctx, t, row.ID, traceWords, row.Values[1]), step())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keepsText says that a full-text table of the damaged store has a copy of the
// text in the form of our schema. The triggers tell, which a table that was
// dropped took with it: then the declaration does.
func (r *recovery) keepsText(index string) bool {
	if r.object(index+"_content").Root == 0 {
		return false
	}
	if trigger := r.object(index + "_insert"); trigger.Name != "" {
		return same(trigger.SQL, find(trigger.Name).sql)
	}
	return same(r.object(index).SQL, find(index).sql)
}

// object is an entry of the damaged schema, the zero value where there is none.
func (r *recovery) object(name string) sqlitefile.Object {
	if i := slices.IndexFunc(r.objects, func(o sqlitefile.Object) bool { return o.Name == name }); i >= 0 {
		return r.objects[i]
	}
	return sqlitefile.Object{}
}

func (r *recovery) wanted(ctx context.Context, t *salvage, id int64, known bool) (bool, error) {
	if there, err := r.there(ctx, t, id); there || err != nil {
		return false, err
	}
	if !known {
		return t.root == 0 || slices.ContainsFunc(t.lost, func(l sqlitefile.Lost) bool { return id > l.After && id <= l.UpTo }), nil
	}
	var n int
	err := r.c.queryRow(context.WithoutCancel(ctx), []any{&n}, "SELECT 1 FROM temp.traces WHERE tbl = ? AND id = ? AND col = ?", t.Name, id, traceID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
