package sqlite

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// search looks at every page for rows of tables whose tree is broken. Pages are
// told apart by the shape of their rows. What stands on free pages was deleted.
func (r *recovery) search(ctx context.Context) error {
	if !slices.ContainsFunc(r.tables, func(t *salvage) bool { return t.damaged }) {
		return nil
	}
	for _, o := range r.objects {
		if o.Root > 0 && !slices.ContainsFunc(r.tables, func(t *salvage) bool { return t.Name == o.Name }) {
			r.src.Claim(o.Root)
		}
	}
	r.src.FreePages()
	return r.batched(ctx, func(step func() error) error {
		return r.src.Orphans(func(l sqlitefile.Leaf) error {
			t := r.owner(l)
			if t == nil {
				return ctx.Err()
			}
			return r.adopt(ctx, t, l, step)
		}, func(done, total int64) { r.o.Progress("search pages", done, total) })
	})
}

func (r *recovery) adopt(ctx context.Context, t *salvage, l sqlitefile.Leaf, step func() error) error {
	for _, row := range l.Rows {
		if _, ok := t.fits(row); !ok {
			continue
		}
		before := t.Rows
		if err := r.insert(ctx, t, row); err != nil {
			return err
		}
		t.Found += t.Rows - before
		if err := step(); err != nil {
			return err
		}
	}
	t.Lost += int64(l.Bad)
	return nil
}

// owner is the table that a page belongs to: the one that most of its rows fit
// best. Where two fit equally, nobody can tell.
func (r *recovery) owner(l sqlitefile.Leaf) *salvage {
	var best *salvage
	most, tied := 0, false
	for _, t := range r.tables {
		if !t.damaged || t.keyed {
			continue
		}
		points, fitting := 0, 0
		for _, row := range l.Rows {
			if n, ok := t.fits(row); ok {
				points, fitting = points+n, fitting+1
			}
		}
		switch {
		case 2*fitting <= len(l.Rows) || points < most:
		case points == most:
			tied = true
		default:
			best, most, tied = t, points, false
		}
	}
	if tied {
		return nil
	}
	return best
}

// fits says whether a row can be one of a table, and how well.
func (t *salvage) fits(row sqlitefile.Row) (points int, ok bool) {
	if row.Columns > len(t.columns) {
		return 0, false
	}
	if row.Columns == len(t.columns) {
		points = 2
	}
	for i, v := range row.Values {
		c := t.columns[i]
		switch n, ok := c.fits(v); {
		case i == t.id:
			if v != nil {
				return 0, false
			}
			points++
		case !ok:
			return 0, false
		default:
			points += n
		}
	}
	if telling := telltale[t.Name]; telling != nil {
		if !telling(t, row) {
			return 0, false
		}
		points += 3
	}
	return points, true
}

func (c salvaged) fits(v any) (points int, ok bool) {
	switch v.(type) {
	case nil:
		return 0, !c.required
	case string:
		if c.affinity == 'T' {
			return 1, true
		}
		return 0, true // text that is no number stays text in any column
	case []byte:
		return 0, c.affinity != 'T' || !c.required
	}
	if c.affinity == 'I' || c.affinity == 'R' || c.affinity == 'N' {
		return 1, true
	}
	return 0, c.affinity == 'B' // a number becomes text in a column of text
}

// telltale are what rows of our tables have beyond the types of their columns.
var telltale = map[string]func(*salvage, sqlitefile.Row) bool{
	"messages": func(t *salvage, row sqlitefile.Row) bool {
		role, _ := t.value(row, "role").(string)
		_, session := t.value(row, "session_id").(string)
		return session && role != "" && len(role) <= 32 && row.Columns >= 8 && row.ID > 0
	},
	"sessions": func(t *salvage, row sqlitefile.Row) bool {
		source, _ := t.value(row, "source").(string)
		id, _ := t.value(row, "id").(string)
		return id != "" && source != "" && len(source) <= 64 && row.Columns >= 10
	},
	"state_meta": func(t *salvage, row sqlitefile.Row) bool {
		key, _ := t.value(row, "key").(string)
		return key != "" && row.Columns == 2
	},
	"schema_version": func(_ *salvage, row sqlitefile.Row) bool {
		v, ok := row.Values[0].(int64)
		return ok && row.Columns == 1 && v > 0 && v < 1000
	},
}

// value is the value of a column by name, nil for none.
func (t *salvage) value(row sqlitefile.Row, column string) any {
	i := slices.IndexFunc(t.columns, func(c salvaged) bool { return c.name == column })
	if i < 0 || i >= len(row.Values) {
		return nil
	}
	return row.Values[i]
}
