package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// recoverBatch is how many rows are written in a transaction.
const recoverBatch = 5000

// load copies what the trees of the tables lead to. What decides how messages
// are indexed comes before them.
func (r *recovery) load(ctx context.Context) error {
	if r.newer() {
		if err := r.createIndexed(ctx); err != nil {
			return err
		}
	}
	order := slices.Clone(r.tables)
	slices.SortStableFunc(order, func(a, b *salvage) int { return lateness(a) - lateness(b) })
	return r.batched(ctx, func(step func() error) error {
		for _, t := range order {
			if err := r.loadTable(ctx, t, step); err != nil {
				return err
			}
		}
		return nil
	})
}

func lateness(t *salvage) int {
	if t.Name == "messages" {
		return 1
	}
	return 0
}

func (r *recovery) loadTable(ctx context.Context, t *salvage, step func() error) error {
	if t.root == 0 {
		return nil
	}
	var seen int64
	walk := r.src.Table
	if t.keyed {
		walk = r.src.Index
	}
	w, err := walk(t.root, func(row sqlitefile.Row) error {
		if seen++; seen%1000 == 0 {
			r.o.Progress("read "+t.Name, seen, 0)
		}
		if err := r.insert(ctx, t, row); err != nil {
			return err
		}
		return step()
	})
	t.lost = w.Lost
	t.Lost += int64(w.BadCells)
	t.PagesLost = int64(len(w.Lost))
	t.damaged = t.damaged || !w.Whole()
	return err
}

// batched runs fn in transactions; fn calls step after each row.
func (r *recovery) batched(ctx context.Context, fn func(step func() error) error) (err error) {
	if err := r.c.script(ctx, "BEGIN"); err != nil {
		return err
	}
	n := 0
	err = fn(func() error {
		if n++; n%recoverBatch != 0 {
			return ctx.Err()
		}
		return r.c.script(ctx, "COMMIT; BEGIN")
	})
	if err != nil {
		return err // the database is thrown away
	}
	return r.c.script(ctx, "COMMIT")
}

// insert writes a row. One whose id or key is there already is an older copy
// and is left out. A row of ours that is not whole is put together later from
// what else is known of it.
func (r *recovery) insert(ctx context.Context, t *salvage, row sqlitefile.Row) error {
	if row.Cut && essential[t.Name] != nil {
		return r.remember(ctx, t, row)
	}
	names, values := t.values(row)
	n, err := r.c.exec(context.WithoutCancel(ctx), t.statement(names), values...)
	if err != nil {
		return err
	}
	if t.Rows += n; n > 0 && row.Cut {
		t.Cut++
	}
	return nil
}

func (t *salvage) statement(names []string) string {
	return "INSERT OR IGNORE INTO main." + quoted(t.Name) + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
}

// values are the columns of a row that it has a value for. Of one that is not
// whole the columns that can't be NULL get something.
func (t *salvage) values(row sqlitefile.Row) (names []string, values []any) {
	if !t.keyed && t.id < 0 && t.idName != "" {
		names, values = append(names, t.idName), append(values, row.ID)
	}
	for i, c := range t.columns {
		var v any
		switch {
		case c.computed:
			continue
		case i == t.id:
			v = row.ID
		case i < len(row.Values):
			v = row.Values[i]
		case !row.Cut || !c.required: // the table was extended later: its default
			continue
		}
		if v == nil && c.notNull && i != t.id {
			if !c.required {
				continue
			}
			v = c.filler()
		}
		names, values = append(names, quoted(c.name)), append(values, v)
	}
	if len(names) == 0 {
		return []string{quoted(t.columns[0].name)}, []any{nil}
	}
	return names, values
}

// filler stands for a value that is lost and can't be NULL.
func (c salvaged) filler() any {
	switch c.affinity {
	case 'T', 'B':
		return ""
	}
	return int64(0)
}
