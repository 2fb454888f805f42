package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// check is one look at an open store.
type check struct {
	what string
	run  func(*checker, context.Context) error
}

// inSnapshot is a look at one snapshot. It waits for who has the file for
// himself as long as a writer does.
func inSnapshot(look func(*checker, context.Context, *conn) error) func(*checker, context.Context) error {
	return func(k *checker, ctx context.Context) error {
		n := len(k.found)
		return k.retryBusy(ctx, func() error {
			k.found = k.found[:n]
			return k.Read(ctx, func(q engine.Queryer) error { return look(k, ctx, q.(*readTx).c) })
		})
	}
}

// checks are all that need a connection, in the order they are done.
var checks = []check{
	{"schema", inSnapshot((*checker).schema)},
	{"pages", inSnapshot((*checker).pages)},
	{"what is damaged", (*checker).weigh},
	{"full-text index against messages", inSnapshot((*checker).indexRows)},
	{"text of the full-text index", inSnapshot((*checker).indexTexts)},
	{"references of other programs", inSnapshot((*checker).references)},
	{"types of values", inSnapshot((*checker).types)},
	{"text", inSnapshot((*checker).encoding)},
	{"free space", inSnapshot((*checker).space)},
}

// checker collects what is found in a store.
type checker struct {
	*store
	full  bool
	shape *shape // as it is now, nil when it can't be read
	found []engine.Finding

	looked *damages // of its pages, nil until they were looked at
	faults []*fault // those of them that count
	stale  []string // full-text indexes that do not fit the messages

	lostTexts string // what messages lost and an index still has, empty for nothing
}

func (k *checker) add(code, format string, args ...any) {
	k.found = append(k.found, engine.Finding{Code: code, What: fmt.Sprintf(format, args...)})
}

// Check implements [engine.Engine]. Each check has a snapshot of its own, so
// that the log of a store in use does not grow for as long as all take.
func (s *store) Check(ctx context.Context, o engine.CheckOptions) ([]engine.Finding, error) {
	k := &checker{store: s, full: o.Full}
	k.found = s.lookAround()
	for i, c := range checks {
		if o.Progress != nil {
			o.Progress(c.what, int64(i), int64(len(checks)))
		}
		err := c.run(k, ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return k.found, ctx.Err()
		case errors.Is(err, sessiondb.ErrClosed), errors.Is(err, sessiondb.ErrBusy):
			return k.found, err
		case errors.Is(err, sessiondb.ErrCorrupt) && k.awaits():
			k.add("check_waits", "%s can only be checked when what is damaged was made anew", c.what)
		default: // the next one may still see more
			k.add("unchecked", "%s could not be checked: %v", c.what, err)
		}
	}
	return k.found, nil
}

// schema compares the schema with the one this program writes.
func (k *checker) schema(ctx context.Context, c *conn) error {
	sh, err := readShape(ctx, c)
	if err != nil {
		return err
	}
	k.shape = sh
	switch {
	case sh.blank():
		k.add("no_tables", "the database has no tables: no session was ever stored, or the log that held them is gone")
		return nil
	case sh.versions == 0:
		k.add("version_missing", "the table schema_version has no row")
	case sh.versions > 1:
		k.add("version_several", "the table schema_version has %d rows", sh.versions)
	}
	switch {
	case sh.version > SchemaVersion:
		k.add("schema_newer", "schema version %d is newer than %d: only reading works here", sh.version, SchemaVersion)
	case sh.version < SchemaVersion && sh.versions > 0:
		k.add("schema_older", "schema version %d, from before %d", sh.version, SchemaVersion)
	default:
		if lost, err := k.messagesLost(ctx, c, sh); lost || err != nil {
			return err
		}
		_, twice, err := titleTwice(ctx, c, sh)
		k.objects(sh, twice || err != nil)
	}
	return nil
}

// messagesLost tells of a store whose table of messages is gone while something
// else says that it held some. To make it anew, empty, would end that.
func (k *checker) messagesLost(ctx context.Context, c *conn, sh *shape) (bool, error) {
	if sh.has("messages") {
		return false, nil
	}
	for _, trace := range []struct{ table, column, where string }{
		{indexes[0] + "_content", "id", "1 = 1"}, {"sessions", "message_count", "message_count > 0"},
	} {
		if !sh.has(trace.table) || trace.table == "sessions" && !sh.hasColumn(trace.table, trace.column) {
			continue
		}
		some, err := texts(ctx, c, "SELECT "+trace.column+" FROM main."+trace.table+" WHERE "+trace.where+" LIMIT 1")
		if err != nil && !errors.Is(err, sessiondb.ErrCorrupt) {
			return false, err
		}
		if len(some) > 0 {
			k.add("table_lost", "table messages is gone, and table %s tells of messages", trace.table)
			return true, nil
		}
	}
	return false, nil
}

// objects names what a store of this schema lacks of it. Where two sessions have
// one title there can be no index that forbids it: they are told of as such.
func (k *checker) objects(sh *shape, twice bool) {
	p, l := planFor(sh), sh.layout()
	for _, o := range p.create {
		if o.name == activityIndex || o.name == titleIndex && twice {
			continue // lists work without the first
		}
		k.add("object_missing", "%s %s is missing", o.kind, o.name)
	}
	for _, table := range []string{"sessions", "messages", "state_meta"} {
		for _, col := range p.columns[table] {
			k.add("column_missing", "column %s.%s is missing", table, col.name)
		}
	}
	for _, index := range p.rebuild {
		what := "is not that of schema 11"
		if !sh.has(index) || !sh.hasParts(l, index) {
			what = "is missing, or a part of it is"
		}
		k.add("index_schema", "full-text index %s %s", index, what)
	}
	for _, index := range indexes {
		if !sh.has(index) {
			continue
		}
		for _, t := range triggersOf(index) {
			switch {
			case !sh.has(t):
				k.add("trigger_missing", "trigger %s is missing: %s misses changes", t, index)
			case !same(sh.objects[t].sql, l.find(t).sql):
				k.add("trigger_differs", "trigger %s is not that of schema 11", t)
			}
		}
	}
	for _, o := range differentIndexes(sh) {
		if o.name == titleIndex && twice {
			continue
		}
		k.add("object_differs", "index %s is not that of schema 11", o.name)
	}
}

// differentIndexes are the declared indexes that are there in another form.
func differentIndexes(sh *shape) (out []object) {
	for _, o := range declared {
		if is, ok := sh.objects[o.name]; ok && o.kind == "index" && !same(is.sql, o.sql) {
			out = append(out, o)
		}
	}
	return out
}

// ours says whether the tables are those that this program knows.
func (k *checker) ours() bool { return k.shape != nil && k.shape.version <= SchemaVersion }

// references counts rows that point at nothing, in tables that are not ours.
// Those of sessions and messages are the business of who knows them.
func (k *checker) references(ctx context.Context, c *conn) error {
	rows, err := c.query(ctx, `SELECT t.name, f.parent, COUNT(*)
 FROM main.sqlite_schema t, pragma_foreign_key_check(t.name, 'main') f
 WHERE t.type = 'table' AND t.name NOT IN ('sessions', 'messages') AND t.sql LIKE '%references%' GROUP BY 1, 2 ORDER BY 1, 2`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table, parent string
		var n int64
		if err := rows.Scan(&table, &parent, &n); err != nil {
			return err
		}
		what := "%d rows of %s, a table of another program, refer to %s that do not exist"
		if n == 1 {
			what = "%d row of %s, a table of another program, refers to one of %s that does not exist"
		}
		k.add("foreign_keys", what, n, table, parent)
	}
	return rows.Err()
}

// largeFree is the share of free pages, and the bytes, from which on they are
// worth a word.
const (
	largeFreeShare = 4 // a quarter
	largeFreeBytes = 4 << 20
)

func (k *checker) space(ctx context.Context, c *conn) error {
	p, err := countPages(ctx, c)
	if err == nil && p.free*largeFreeShare >= p.all && p.free*p.size >= largeFreeBytes {
		k.add("free_pages", "%d of %d MiB are free", p.free*p.size>>20, p.bytes()>>20)
	}
	return err
}
