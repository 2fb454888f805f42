package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
)

// indexes makes indexes anew that are on other columns, or are damaged. One that
// its table has no room for, two rows of one key, stays as it is.
func (m *mender) indexes(ctx context.Context) error {
	for _, o := range differentIndexes(m.found.shape) {
		err := m.tx(ctx, func() error {
			if _, err := m.w.exec(ctx, "DROP INDEX "+o.name); err != nil {
				return err
			}
			return m.w.script(ctx, o.sql)
		})
		if primaryCode(err) == lib.SQLITE_CONSTRAINT {
			continue
		}
		if err != nil {
			return err
		}
		m.did("object_differs", "made index %s anew", o.name)
	}
	var stay []error
	for _, f := range m.found.faults {
		if f.code != "btree_index" {
			continue
		}
		if err := m.index(ctx, f); err != nil && primaryCode(err) != lib.SQLITE_CONSTRAINT {
			return err
		} else if err != nil && f.torn {
			stay = append(stay, fmt.Errorf("%w: index %s can't be made anew in place, since rows of %s have the same key",
				sessiondb.ErrCorrupt, f.name, m.found.looked.tableOf(f.name)))
		}
	}
	return errors.Join(stay...)
}

// index makes one damaged index anew. What damaged pages say which others belong
// to them may be wrong, so those of a torn index are left to a vacuum, and
// nothing is freed.
func (m *mender) index(ctx context.Context, f *fault) (err error) {
	if !f.torn {
		err = m.tx(ctx, func() error { return m.w.script(ctx, "REINDEX main."+quoted(f.name)) })
	}
	if f.torn || errors.Is(err, sessiondb.ErrCorrupt) {
		err = m.tx(ctx, func() error { return m.remake(ctx, f.name) })
	}
	if f.name == titleIndex && primaryCode(err) == lib.SQLITE_CONSTRAINT {
		err = m.tx(ctx, func() error { return m.w.forget(ctx, "index", f.name) })
		if err == nil {
			m.did("btree_index", "took index %s away until titles differ", f.name)
		}
		return err
	}
	if err == nil {
		m.did("btree_index", "made index %s anew", f.name)
	}
	return err
}

// remake makes an index anew in the transaction that is open, without a look at
// its pages.
func (m *mender) remake(ctx context.Context, name string) error {
	var table, text string
	err := m.w.queryRow(ctx, []any{&table, &text},
		"SELECT tbl_name, COALESCE(sql, '') FROM main.sqlite_schema WHERE type = 'index' AND name = ?", name)
	switch {
	case err != nil:
		return err
	case text == "":
		return m.remakeConstraint(ctx, table, name)
	}
	if err := m.w.forget(ctx, "index", name); err != nil {
		return err
	}
	return m.w.script(ctx, text)
}

// remade is the name of an index while it is made for a constraint.
const remade = "sessiondb_remade"

// remakeConstraint makes the index of a UNIQUE or a PRIMARY KEY anew. It has no
// statement of its own and can't leave the schema: another index is made on the
// same columns, and its pages are given to the name of the old one.
func (m *mender) remakeConstraint(ctx context.Context, table, name string) error {
	columns, err := texts(ctx, m.w, `SELECT '"' || replace(name, '"', '""') || '" COLLATE "' || replace(coll, '"', '""') || '"' || iif("desc", ' DESC', '')
 FROM pragma_index_xinfo(?, 'main') WHERE key = 1 ORDER BY seqno`, name)
	if err != nil {
		return err
	}
	create := "CREATE UNIQUE INDEX main." + remade + " ON " + quoted(table) + " (" + strings.Join(columns, ", ") + ")"
	if err := m.w.script(ctx, create); err != nil {
		return err
	}
	return m.w.inSchema(ctx, func() error {
		_, err := m.w.exec(ctx, `UPDATE main.sqlite_schema SET rootpage = (SELECT n.rootpage FROM main.sqlite_schema n WHERE n.name = ?)
 WHERE type = 'index' AND name = ?`, remade, name)
		if err == nil {
			_, err = m.w.exec(ctx, "DELETE FROM main.sqlite_schema WHERE type = 'index' AND name = ?", remade)
		}
		return err
	})
}

// foreignFulltext makes full-text indexes of other programs anew from the text
// that they keep, or that their own table does.
func (m *mender) foreignFulltext(ctx context.Context) error {
	var stay []error
	for _, f := range m.found.faults {
		if f.code != "index_damage" || slices.Contains(indexes, f.name) {
			continue
		}
		err := m.refill(ctx, f.name, f.torn, false)
		if errors.Is(err, sessiondb.ErrCorrupt) {
			err = m.refill(ctx, f.name, true, true) // what its settings were can't be read
		}
		switch {
		case ctx.Err() != nil, isBusy(err), errors.Is(err, sessiondb.ErrFull), errors.Is(err, sessiondb.ErrIO):
			return err
		case err != nil: // it needs what only the other program has
			stay = append(stay, fmt.Errorf("%w: full-text index %s of another program can't be made anew in place: %w", sessiondb.ErrCorrupt, f.name, err))
		default:
			m.did("index_damage", "made full-text index %s of another program anew", f.name)
		}
	}
	return errors.Join(stay...)
}

// refill makes a full-text index anew from its text: without a look at its
// pages where it is torn, and with settings that are those of a new one if need
// be.
func (m *mender) refill(ctx context.Context, index string, torn, plain bool) error {
	return m.tx(ctx, func() error {
		for _, part := range parts {
			if torn && (part != "_config" || plain) && m.found.looked.indexOf(index+part) != "" {
				if err := m.emptied(ctx, index+part); err != nil {
					return err
				}
			}
		}
		if plain {
			if _, err := m.w.exec(ctx, "INSERT INTO main."+quoted(index+"_config")+" VALUES ('version', 4)"); err != nil {
				return err
			}
		}
		_, err := m.w.exec(ctx, "INSERT INTO main."+quoted(index)+" ("+quoted(index)+") VALUES ('rebuild')")
		return err
	})
}

// emptied makes a table anew, without rows and without a look at its pages.
func (m *mender) emptied(ctx context.Context, table string) error {
	create, err := texts(ctx, m.w, "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", table)
	if err != nil || len(create) == 0 {
		return err
	}
	if err := m.w.forget(ctx, "table", table); err != nil {
		return err
	}
	return m.w.script(ctx, create[0])
}

// inSchema lets fn change the schema as a table, in the transaction that is
// open, which has to make an object too: else others don't notice.
func (c *conn) inSchema(ctx context.Context, fn func() error) error {
	if err := c.script(ctx, "PRAGMA writable_schema = ON"); err != nil {
		return err
	}
	return firstError(fn(), c.script(ctx, "PRAGMA writable_schema = RESET"))
}

// forget takes objects of a kind out of the schema, and leaves their pages to a
// vacuum. Once a page of theirs is damaged SQLite can't drop them, and fails in
// everything else of a transaction that tried.
func (c *conn) forget(ctx context.Context, kind string, names ...string) error {
	return c.inSchema(ctx, func() error {
		for _, name := range names {
			if _, err := c.exec(ctx, "DELETE FROM main.sqlite_schema WHERE type = ? AND name = ?", kind, name); err != nil {
				return err
			}
		}
		return nil
	})
}
