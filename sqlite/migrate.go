package sqlite

import (
	"context"
	"errors"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// indexes are the two full-text tables.
var indexes = []string{"messages_fts", "messages_fts_trigram"}

// indexedText is what the index holds of a message.
const indexedText = `COALESCE(content, '') || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '')`

// triggersOf are the triggers that fill a full-text table.
func triggersOf(index string) []string {
	return []string{index + "_insert", index + "_delete", index + "_update"}
}

// plan is what a file needs to become what schema.sql says.
type plan struct {
	create  []object            // tables and indexes
	columns map[string][]column // by table
	rebuild []string            // full-text tables to make anew
	resync  []string            // full-text tables that lost triggers
	version bool                // the version row
}

func (p *plan) empty() bool {
	return len(p.create) == 0 && len(p.columns) == 0 && len(p.rebuild) == 0 && len(p.resync) == 0 && !p.version
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
	for _, index := range indexes {
		o := sh.objects[index]
		switch {
		case sh.version < SchemaVersion && sh.versions > 0, !same(o.sql, find(index).sql), !sh.hasParts(index):
			p.rebuild = append(p.rebuild, index)
		case !sh.hasTriggers(index):
			p.resync = append(p.resync, index)
		}
	}
	return p
}

// hasTriggers says whether the triggers of a full-text table are as declared.
func (sh *shape) hasTriggers(index string) bool {
	for _, t := range triggersOf(index) {
		if !same(sh.objects[t].sql, find(t).sql) {
			return false
		}
	}
	return true
}

// parts are the tables that a full-text table keeps its data in.
var parts = []string{"_data", "_idx", "_content", "_docsize", "_config"}

func (sh *shape) hasParts(index string) bool {
	for _, part := range parts {
		if !sh.has(index + part) {
			return false
		}
	}
	return true
}

// migration carries a plan out in the transaction that is open.
type migration struct {
	*store
	c    *conn
	from *shape
}

// run makes the file what the schema says. Nothing of sessions or messages
// changes but that columns are added.
func (m *migration) run(ctx context.Context, p *plan) error {
	if err := m.addTables(ctx, p); err != nil {
		return err
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

// rebuild makes a full-text table anew from the messages.
func (m *migration) rebuild(ctx context.Context, index string) error {
	if err := m.drop(ctx, index); err != nil {
		return err
	}
	if err := m.c.script(ctx, find(index).sql); err != nil {
		return err
	}
	if err := m.fill(ctx, index, ""); err != nil {
		return err
	}
	return m.createTriggers(ctx, index)
}

// drop removes a full-text table and its triggers, also where only its parts
// are left.
func (m *migration) drop(ctx context.Context, index string) error {
	if err := m.dropTriggers(ctx, index); err != nil {
		return err
	}
	if err := m.c.script(ctx, "DROP TABLE IF EXISTS "+index); err != nil {
		if err := m.forget(ctx, index, err); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := m.c.script(ctx, "DROP TABLE IF EXISTS "+index+part); err != nil {
			return err
		}
	}
	return nil
}

// forget takes a full-text table out of the schema when it is too damaged to
// be dropped; its parts are dropped next.
func (m *migration) forget(ctx context.Context, index string, cause error) error {
	if primaryCode(cause) != lib.SQLITE_ERROR && primaryCode(cause) != lib.SQLITE_CORRUPT {
		return cause
	}
	if err := m.c.script(ctx, "PRAGMA writable_schema = ON"); err != nil {
		return err
	}
	_, err := m.c.exec(ctx, "DELETE FROM main.sqlite_schema WHERE type = 'table' AND name = ?", index)
	return firstError(err, m.c.script(ctx, "PRAGMA writable_schema = RESET"))
}

func (m *migration) dropTriggers(ctx context.Context, index string) error {
	for _, t := range triggersOf(index) {
		if err := m.c.script(ctx, "DROP TRIGGER IF EXISTS "+t); err != nil {
			return err
		}
	}
	return nil
}

// resync brings a full-text table that missed changes up to date, and gives it
// its triggers back.
func (m *migration) resync(ctx context.Context, index string) error {
	docs := index + "_docsize"
	if _, err := m.c.exec(ctx, "DELETE FROM "+index+" WHERE rowid IN (SELECT id FROM "+docs+" EXCEPT SELECT id FROM messages)"); err != nil {
		return err
	}
	if err := m.fill(ctx, index, " AND NOT EXISTS (SELECT 1 FROM "+docs+" d WHERE d.id = messages.id)"); err != nil {
		return err
	}
	return m.createTriggers(ctx, index)
}

func (m *migration) createTriggers(ctx context.Context, index string) error {
	for _, t := range triggersOf(index) {
		if err := m.c.script(ctx, "DROP TRIGGER IF EXISTS "+t+";"+find(t).sql); err != nil {
			return err
		}
	}
	return nil
}

// fillStep is how many messages are indexed between two reports of progress.
const fillStep = 2000

// fill indexes the messages that a condition picks, in steps by id.
func (m *migration) fill(ctx context.Context, index, condition string) error {
	var total, done, last int64
	if err := m.c.queryRow(ctx, []any{&total}, "SELECT COUNT(*) FROM messages"); err != nil {
		return err
	}
	for {
		var n int64
		var upTo *int64
		err := m.c.queryRow(ctx, []any{&n, &upTo}, "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?)", last, fillStep)
		if err != nil || upTo == nil {
			return err
		}
		_, err = m.c.exec(ctx, "INSERT INTO "+index+" (rowid, content) SELECT id, "+indexedText+
			" FROM messages WHERE id > ? AND id <= ?"+condition+" ORDER BY id", last, *upTo)
		if err != nil {
			return err
		}
		done, last = done+n, *upTo
		if m.progress != nil {
			m.progress("index messages for "+index, done, total)
		}
	}
}

// migrate brings the file to the schema, once, whoever else opens it too.
func (s *store) migrate(ctx context.Context, c *conn) error {
	var sh *shape
	var p *plan
	err := s.retry(ctx, func() (err error) {
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
	return s.retry(ctx, func() error {
		if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		sh, p, err = s.inspect(ctx, c)
		if err == nil && !p.empty() {
			err = (&migration{s, c, sh}).run(ctx, p)
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
