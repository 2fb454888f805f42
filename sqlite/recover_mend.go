package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// mend makes a store of the rows that were found: they get the times that they
// lost, and then what the rules of the store ask for. Columns of ours are there
// before that.
func (r *recovery) mend(ctx context.Context) error {
	if err := r.addColumns(ctx); err != nil {
		return err
	}
	err := r.inTx(ctx, func() error {
		return firstError(r.mendTimes(ctx), r.mendSequence(ctx))
	})
	if err != nil {
		return err
	}
	return r.repair(ctx)
}

// addColumns adds the columns that a store of our schema or before lacks.
func (r *recovery) addColumns(ctx context.Context) error {
	if r.newer() {
		return nil
	}
	m, err := r.store().migrating(ctx, r.c)
	if err != nil {
		return err
	}
	return m.addTables(ctx, &plan{columns: planFor(m.from).columns})
}

// repair applies the rules of the store. Rows that they can't be applied to
// stay as they were found.
func (r *recovery) repair(ctx context.Context) error {
	db := sessiondb.New(&unpublished{r: r}, sessiondb.Config{Logger: r.o.Logger})
	done, err := db.Repair(ctx, sessiondb.RepairOptions{Titles: true})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.note("not all of it could be mended: %v", err)
	}
	for _, d := range done {
		switch d.Code {
		case "orphan_messages":
			r.Placeholders = d.Sessions
			r.table("sessions").Rows += int64(len(d.Sessions))
		case "duplicate_title":
			r.Retitled = d.Sessions
		default:
			r.Repaired = append(r.Repaired, d)
		}
	}
	return nil
}

// unpublished is the seam over the database that is being made, as far as a
// repair asks: it has one connection and no other users, and its indexes are
// made later.
type unpublished struct {
	engine.Engine
	r *recovery
}

func (u *unpublished) Read(_ context.Context, fn func(engine.Queryer) error) error {
	return fn(&readTx{c: u.r.c})
}

func (u *unpublished) Write(ctx context.Context, fn func(engine.Execer) error) error {
	return u.r.inTx(ctx, func() error { return fn(&writeTx{c: u.r.c}) })
}

func (u *unpublished) Repair(context.Context, engine.RepairOptions) error { return nil }

func (u *unpublished) Info() engine.Info { return engine.Info{Current: !u.r.newer()} }

// inTx runs fn in a transaction.
func (r *recovery) inTx(ctx context.Context, fn func() error) error {
	if err := r.c.script(ctx, "BEGIN"); err != nil {
		return err
	}
	err := fn()
	r.c.closeRows()
	if err != nil {
		return firstError(err, r.c.script(context.WithoutCancel(ctx), "ROLLBACK"))
	}
	return r.c.script(ctx, "COMMIT")
}

// numeric is a time that can be read.
const numeric = "CASE WHEN typeof(timestamp) IN ('real', 'integer') AND timestamp > 0 THEN timestamp END"

// mendTimes gives rows that lost their time the one of what stands before, or
// after.
func (r *recovery) mendTimes(ctx context.Context) error {
	_, err := r.c.exec(ctx, `UPDATE messages SET timestamp = COALESCE(
 (SELECT `+numeric+` FROM messages p WHERE p.id < messages.id AND p.session_id = messages.session_id ORDER BY p.id DESC LIMIT 1),
 (SELECT started_at FROM sessions s WHERE s.id = messages.session_id AND started_at > 0),
 (SELECT `+numeric+` FROM messages p WHERE p.id > messages.id AND p.session_id = messages.session_id ORDER BY p.id LIMIT 1), 0)
 WHERE timestamp = 0 AND id IN (SELECT id FROM temp.traces WHERE tbl = 'messages')`)
	if err != nil {
		return err
	}
	_, err = r.c.exec(ctx, `UPDATE sessions SET started_at = COALESCE((SELECT MIN(`+numeric+`) FROM messages WHERE session_id = sessions.id), 0)
 WHERE started_at = 0 AND rowid IN (SELECT id FROM temp.traces WHERE tbl = 'sessions')`)
	return err
}

// mendSequence sees to it that no id of a message is given twice, also not that
// of one that is lost.
func (r *recovery) mendSequence(ctx context.Context) error {
	for _, o := range r.objects {
		if o.Name != "sqlite_sequence" || o.Root == 0 {
			continue
		}
		_, err := r.src.Table(o.Root, func(row sqlitefile.Row) error {
			if len(row.Values) < 2 {
				return nil
			}
			return r.raiseSequence(ctx, row.Values[0], row.Values[1])
		})
		if err != nil {
			return err
		}
	}
	var last int64
	if err := r.c.queryRow(ctx, []any{&last}, "SELECT COALESCE(MAX(id), 0) FROM temp.traces WHERE tbl = 'messages'"); err != nil {
		return err
	}
	return r.raiseSequence(ctx, "messages", last)
}

func (r *recovery) raiseSequence(ctx context.Context, table, last any) error {
	n, ok := last.(int64)
	name, _ := table.(string)
	if !ok || n <= 0 || r.table(name) == nil {
		return nil
	}
	changed, err := r.c.exec(ctx, "UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = ?", n, name)
	if err == nil && changed == 0 {
		_, err = r.c.exec(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, n)
	}
	return err
}
