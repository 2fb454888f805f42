package sqlite

import (
	"context"
	"errors"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// plan is what a file needs to become what schema.sql says.
type plan struct {
	create  []object            // tables and indexes
	columns map[string][]column // by table
	rebuild []string            // full-text tables to make anew
	resync  []string            // full-text tables that lost triggers
	view    bool                // the view of the texts, or none
	version bool                // the version row
}

func (p *plan) empty() bool {
	return len(p.create) == 0 && len(p.columns) == 0 && len(p.rebuild) == 0 && len(p.resync) == 0 && !p.view && !p.version
}

// planFor compares a file with the schema. It looks at the schema only.
func planFor(sh *shape) *plan {
	p := &plan{columns: map[string][]column{}, version: sh.version != SchemaVersion || sh.versions != 1}
	for _, o := range declared {
		wanted := o.kind == "index" || o.kind == "table" && !strings.HasPrefix(o.name, "messages_fts")
		if o.name == activityIndex && !sh.blank() && sh.version == SchemaVersion {
			wanted = false // made with the first write, or by Compact
		}
		if wanted && !sh.has(o.name) {
			p.create = append(p.create, o)
		}
	}
	for table := range sh.columns {
		if missing := sh.missingColumns(table); len(missing) > 0 {
			p.columns[table] = missing
		}
	}
	l := sh.layout()
	p.view = !l.keepsText && !same(sh.objects[textView].sql, l.find(textView).sql)
	for _, index := range indexes {
		o := sh.objects[index]
		switch {
		case sh.version < SchemaVersion && sh.versions > 0, !same(o.sql, l.find(index).sql), !sh.hasParts(l, index), p.view:
			p.rebuild = append(p.rebuild, index)
		case sh.hasTriggers(l, index):
		case l.keepsText:
			p.resync = append(p.resync, index)
		default:
			p.rebuild = append(p.rebuild, index)
		}
	}
	return p
}

// hasTriggers says whether the triggers of a full-text table are as declared.
func (sh *shape) hasTriggers(l *layout, index string) bool {
	for _, t := range triggersOf(index) {
		if !same(sh.objects[t].sql, l.find(t).sql) {
			return false
		}
	}
	return true
}

// migration carries a plan out in the transaction that is open.
type migration struct {
	*store
	c      *conn
	from   *shape
	layout *layout
	// leavePages makes anew what is too damaged to be dropped.
	leavePages bool
	report     func(what string, done, total int64) // may be nil
}

// migrating prepares for work on the file as it is now.
func (s *store) migrating(ctx context.Context, c *conn) (*migration, error) {
	sh, err := readShape(ctx, c)
	if err != nil {
		return nil, err
	}
	return &migration{store: s, c: c, from: sh, layout: sh.layout(), report: s.progress}, nil
}

// run makes the file what the schema says. Nothing of sessions or messages
// changes but that columns are added.
func (m *migration) run(ctx context.Context, p *plan) error {
	if err := m.addTables(ctx, p); err != nil {
		return err
	}
	if p.view {
		if err := m.makeView(ctx); err != nil {
			return err
		}
	}
	for _, index := range p.rebuild {
		if err := m.rebuild(ctx, index); err != nil {
			return err
		}
	}
	for _, index := range p.resync {
		if err := m.resync(ctx, index); err != nil {
			return err
		}
	}
	if !p.version {
		return nil
	}
	if _, err := m.c.exec(ctx, "DELETE FROM schema_version"); err != nil {
		return err
	}
	_, err := m.c.exec(ctx, "INSERT INTO schema_version (version) VALUES (?)", max(m.from.version, SchemaVersion))
	return err
}

// addTables creates tables and indexes and adds columns; columns come before
// the indexes on them.
func (m *migration) addTables(ctx context.Context, p *plan) error {
	for _, o := range p.create {
		if o.kind == "table" {
			if err := m.c.script(ctx, o.sql); err != nil {
				return err
			}
		}
	}
	for table, columns := range p.columns {
		for _, c := range columns {
			if err := m.c.script(ctx, "ALTER TABLE "+table+` ADD COLUMN "`+c.name+`" `+c.decl); err != nil {
				return err
			}
		}
	}
	for _, o := range p.create {
		if o.kind != "index" {
			continue
		}
		err := m.c.script(ctx, o.sql)
		if o.name == titleIndex && primaryCode(err) == lib.SQLITE_CONSTRAINT {
			m.log.Warn("several sessions have the same title: titles are not kept unique until they differ", "path", m.path)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// migrate brings the file to the schema, once, whoever else opens it too.
func (s *store) migrate(ctx context.Context, c *conn) error {
	var sh *shape
	var p *plan
	err := s.retryBusy(ctx, func() (err error) {
		sh, p, err = s.inspect(ctx, c)
		return err
	})
	if err != nil || p.empty() {
		return err
	}
	release, err := s.queue.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.retryBusy(ctx, func() error {
		if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		sh, p, err = s.inspect(ctx, c)
		if err == nil && !p.empty() {
			err = (&migration{store: s, c: c, from: sh, layout: sh.layout(), report: s.progress}).run(ctx, p)
		}
		if err == nil {
			_, err = c.exec(ctx, "COMMIT")
		}
		if err != nil {
			_, _ = c.exec(context.Background(), "ROLLBACK")
		}
		return err
	})
}

// errNewer says that a newer program owns the schema.
var errNewer = errors.New("newer schema")

// inspect reads the shape of the file and what it needs.
func (s *store) inspect(ctx context.Context, c *conn) (*shape, *plan, error) {
	sh, err := readShape(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	s.shape = sh
	switch {
	case !sh.ours():
		return nil, nil, s.notStore("it has other tables")
	case sh.version > SchemaVersion:
		return nil, nil, errNewer
	}
	p := planFor(sh)
	return sh, p, s.allowTitles(ctx, c, sh, p)
}
