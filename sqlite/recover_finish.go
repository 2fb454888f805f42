package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// ofIndexes says whether an object belongs to our full-text tables, which a
// migration makes.
func ofIndexes(o sqlitefile.Object) bool {
	return slices.ContainsFunc(indexes, func(index string) bool { return o.Name == index || strings.HasPrefix(o.Name, index+"_") })
}

// createIndexed makes the full-text tables of a newer store, with the views and
// triggers that fill them: its own, since how they do it is that program's.
func (r *recovery) createIndexed(ctx context.Context) error {
	for _, kind := range []string{"view", "table", "trigger"} {
		for _, o := range r.objects {
			if o.Type == kind && ofIndexes(o) && !isPart(o.Name) {
				r.createOrNote(ctx, o)
			}
		}
	}
	return ctx.Err()
}

// createRest makes the other objects of the damaged store: indexes, virtual
// tables, views, triggers. A migration makes those of our schema.
func (r *recovery) createRest(ctx context.Context) error {
	for _, kind := range []string{"index", "view", "trigger"} {
		for i, o := range r.objects {
			if o.Type == kind && o.SQL != "" && !ofIndexes(o) && !slices.Contains(coreTables, o.Name) && !r.migrates(o.Name) {
				r.o.Progress("make indexes", int64(i), int64(len(r.objects)))
				r.createOrNote(ctx, o)
			}
		}
	}
	for _, o := range r.objects {
		if isVirtual(o) && !ofIndexes(o) {
			if err := r.register(ctx, o); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// migrates says that a migration makes an object.
func (r *recovery) migrates(name string) bool {
	return !r.newer() && name != activityIndex && slices.ContainsFunc(declared, func(o object) bool { return o.name == name })
}

func (r *recovery) createOrNote(ctx context.Context, o sqlitefile.Object) {
	err := r.create(ctx, o.SQL)
	switch {
	case err == nil || ctx.Err() != nil:
	case primaryCode(err) == lib.SQLITE_CONSTRAINT:
		r.note("%s %s is left out: the values are not unique", o.Type, o.Name)
	default:
		r.note("%s %s is left out: %v", o.Type, o.Name, err)
	}
}

// register puts a virtual table into the schema; what it keeps its data in was
// copied. A full-text table that is not sound is made anew where it can be.
func (r *recovery) register(ctx context.Context, o sqlitefile.Object) error {
	if !single(o.SQL) {
		r.note("table %s is left out: its declaration can't be used", o.Name)
		return nil
	}
	if err := r.c.script(ctx, "PRAGMA writable_schema = ON"); err != nil {
		return err
	}
	_, err := r.c.exec(ctx, "INSERT INTO main.sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', ?, ?, 0, ?)", o.Name, o.Name, o.SQL)
	if err = firstError(err, r.c.script(ctx, "PRAGMA writable_schema = RESET")); err != nil {
		return err
	}
	name := quoted(o.Name)
	if !slices.Contains(sqlWords(o.SQL), "fts5") {
		return nil
	}
	if err := r.c.script(ctx, "INSERT INTO "+name+" ("+name+") VALUES ('integrity-check')"); err == nil {
		return nil
	}
	if err := r.c.script(ctx, "INSERT INTO "+name+" ("+name+") VALUES ('rebuild')"); err != nil {
		r.note("full-text table %s is not sound: %v", o.Name, err)
	}
	return nil
}

// migrateCopy brings a store of our schema or before to the present one.
func (r *recovery) migrateCopy(ctx context.Context) (err error) {
	r.SchemaVersion = max(r.version, SchemaVersion)
	if r.newer() {
		return r.keepVersion(ctx)
	}
	m, err := r.store().migrating(ctx, r.c)
	if err != nil {
		return err
	}
	return r.inTx(ctx, func() error {
		if err := m.run(ctx, planFor(m.from)); err != nil {
			return err
		}
		_, err := r.c.exec(ctx, "DELETE FROM state_meta WHERE key = ?", staleKey)
		return err
	})
}

// keepVersion writes the version row of a newer store if it is lost, so that
// nobody takes it for an old one.
func (r *recovery) keepVersion(ctx context.Context) error {
	if r.FromVersion > 0 {
		return nil
	}
	_, err := r.c.exec(ctx, "INSERT INTO schema_version (version) VALUES (?)", r.version)
	return err
}

// verify sees that the new store is sound, and finishes the report.
func (r *recovery) verify(ctx context.Context) error {
	r.o.Progress("check", 0, 0)
	rows, err := r.c.query(ctx, "PRAGMA main.integrity_check")
	if err != nil {
		return err
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			return fmt.Errorf("%w: the new store is not sound: %s", sessiondb.ErrCorrupt, line)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, t := range r.tables {
		n, err := r.count(ctx, t.Name)
		switch {
		case err != nil:
			return err
		case t.Name == "state_meta" || strings.HasPrefix(t.Name, "sessiondb_"): // mending wrote to them
			t.Rows = n
		case t.Name != "schema_version" && n != t.Rows:
			return rowsMissing(t.Name, n, t.Rows)
		}
		if t.Name != "schema_version" {
			r.Tables = append(r.Tables, t.RecoveredTable)
		}
		r.PagesLost += t.PagesLost
	}
	if r.newer() {
		return nil
	}
	for _, index := range indexes {
		n, err := r.count(ctx, index+"_docsize")
		if err != nil {
			return err
		}
		if want := r.table("messages").Rows; n != want {
			return rowsMissing(index, n, want)
		}
	}
	if r.SchemaDamaged && r.table("messages").Rows+r.table("sessions").Rows == 0 {
		return errNothingOurs(r.tooLittle())
	}
	return nil
}

// tooLittle says why nothing was found.
func (r *recovery) tooLittle() string {
	if have, want := r.src.Pages(); have < want {
		return fmt.Sprintf("%d of its %d pages are missing, and no session and no message is on the rest", want-have, want)
	}
	return "no session and no message was found in it"
}

// count counts the rows of a table of the new store.
func (r *recovery) count(ctx context.Context, table string) (n int64, err error) {
	err = r.c.queryRow(ctx, []any{&n}, "SELECT COUNT(*) FROM main."+quoted(table))
	return n, err
}

func rowsMissing(table string, have, want int64) error {
	return fmt.Errorf("%w: the new store has %d rows in %s instead of %d", sessiondb.ErrCorrupt, have, table, want)
}
