package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// inspectFile reads a database through as [inspect] does.
func inspectFile(ctx context.Context, path string, a access, report func(done, total int64)) (b engine.Backup, err error) {
	opened := func(fn func(*conn, *shape) error) error {
		c, sh, err := look(ctx, path, a)
		if err != nil {
			return err
		}
		defer func() { _ = c.close() }()
		return fn(c, sh)
	}
	err = opened(func(c *conn, sh *shape) error {
		b, err = inspect(ctx, c, sh, report, func(index string) (older bool, err error) {
			err = opened(func(c *conn, sh *shape) error {
				older, err = fromOlderSQLite(ctx, c, sh, index)
				return err
			})
			return older, err
		})
		return err
	})
	return b, err
}

// inspect reads every table of a database and its indexes, and counts. It judges
// as Check does: a table that is damaged is an error; what is made from a table,
// an index, is a finding. Older says whether an index is from an older SQLite,
// see fromOlderSQLite.
func inspect(ctx context.Context, c *conn, sh *shape, report func(done, total int64), older func(index string) (bool, error)) (b engine.Backup, err error) {
	if !sh.ours() || sh.blank() {
		return b, fmt.Errorf("%w: there are no sessions in it", sessiondb.ErrNotStore)
	}
	b.SchemaVersion = sh.version
	p, err := countPages(ctx, c)
	if err != nil {
		return b, err
	}
	b.Bytes = p.bytes()
	if b.Findings, err = indexFaults(ctx, c, report, older); err != nil {
		return b, err
	}
	for table, n := range map[string]*int64{"sessions": &b.Sessions, "messages": &b.Messages} {
		if sh.has(table) {
			if err := c.queryRow(ctx, []any{n}, "SELECT COUNT(*) FROM main."+table+" NOT INDEXED"); err != nil {
				return b, err
			}
		}
	}
	return b, keepTexts(ctx, c, sh)
}

// indexFaults reads every table through, and tells what is wrong with indexes.
func indexFaults(ctx context.Context, c *conn, report func(done, total int64), older func(index string) (bool, error)) (out []engine.Finding, err error) {
	d, err := newDamages(ctx, c)
	if err != nil {
		return nil, err
	}
	steps := slices.Clone(d.tables)
	for _, name := range d.virtual {
		if slices.Contains(indexes, name) {
			steps = append(steps, name)
		}
	}
	for i, t := range steps {
		report(int64(i), int64(len(steps)))
		if err := d.table(ctx, c, "quick_check", t); err != nil {
			return nil, err
		}
		if i == len(d.tables)-1 {
			err = d.free(ctx, c)
		}
		if f := lost(d.list); f != nil && err == nil {
			err = fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, d.finding(f).What)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := d.askFulltext(ctx, c); err != nil {
		return nil, err
	}
	if err := d.leaves(ctx, c); err != nil {
		return nil, err
	}
	faults, _, err := d.judged(older)
	for _, f := range faults {
		if f.code == "index_damage" || f.code == "btree_index" {
			out = append(out, d.finding(f))
		}
	}
	return out, err
}

// askFulltext asks each full-text table something. One that needs what only
// another program has is not ours to judge.
func (d *damages) askFulltext(ctx context.Context, c *conn) error {
	for _, name := range d.fulltext {
		err := c.queryRow(ctx, []any{new(int64)}, "SELECT COUNT(*) FROM (SELECT rowid FROM main."+quoted(name)+" WHERE "+quoted(name)+" MATCH 'the OR and' LIMIT 1)")
		switch {
		case errors.Is(err, sessiondb.ErrCorrupt):
			d.add("index_damage", name, err.Error())
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	return nil
}
