package sqlite

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// SchemaVersion is the schema this package writes.
const SchemaVersion = 11

// schemaSQL is the whole schema, an object a statement, and the only place
// where it is written.
//
//go:embed schema.sql
var schemaSQL string

// activityIndex is ours: files that only other programs wrote lack it.
const activityIndex = "sessiondb_messages_activity"

// titleIndex is the one index that old data can forbid.
const titleIndex = "idx_sessions_title_unique"

// object is a table, index or trigger.
type object struct {
	kind, name, table string
	sql               string // as SQLite keeps it
}

// declared is the schema, in the order of creation.
var declared = parseSchema(schemaSQL)

// column is a declared column and its type, default and constraints.
type column struct{ name, decl string }

// parseSchema splits the statements. A statement ends where a line ends in a
// semicolon and does not begin with a space.
func parseSchema(text string) (out []object) {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		lines = append(lines, line)
		if strings.HasSuffix(line, ";") && !strings.HasPrefix(line, " ") {
			out = append(out, parseObject(strings.Join(lines, "\n")))
			lines = nil
		}
	}
	return out
}

// parseObject reads the head of a CREATE statement.
func parseObject(sql string) object {
	sql = strings.Replace(strings.TrimSuffix(sql, ";"), "IF NOT EXISTS ", "", 1)
	words := strings.FieldsFunc(sql, func(r rune) bool { return strings.ContainsRune(" \n(", r) })
	o := object{sql: sql, kind: strings.ToLower(words[1])}
	rest := words[2:]
	if o.kind == "unique" || o.kind == "virtual" {
		o.kind, rest = strings.ToLower(words[2]), words[3:]
	}
	o.name = rest[0]
	if i := slices.Index(rest, "ON"); i >= 0 {
		o.table = rest[i+1]
	}
	return o
}

// find returns the declared object of a name.
func find(name string) object {
	return declared[slices.IndexFunc(declared, func(o object) bool { return o.name == name })]
}

// columnsOf lists the declared columns of a table.
func columnsOf(table string) (out []column) {
	lines := strings.Split(find(table).sql, "\n")
	for _, line := range lines[1 : len(lines)-1] {
		name, decl, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ","), " ")
		if name != "FOREIGN" {
			out = append(out, column{name, decl})
		}
	}
	return out
}

// createIfMissing is the statement that creates an object unless it is there.
func createIfMissing(name string) string {
	o := find(name)
	return strings.Replace(o.sql, " "+o.name, " IF NOT EXISTS "+o.name, 1)
}

// same says whether two texts of SQL differ in white space only.
func same(a, b string) bool {
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

// shape is what a file has of the schema.
type shape struct {
	objects  map[string]object   // by name
	columns  map[string][]string // of sessions, messages, state_meta
	version  int                 // the highest version row, 0 for none
	versions int                 // how many version rows there are
	claimed  bool                // it has nothing in it, but the mark of a program
}

// readVersion reads the highest version row, 0 when there is none.
const readVersion = "SELECT COALESCE(MAX(CAST(version AS INTEGER)), 0) FROM main.schema_version"

// readShape reads the schema, and no table but that of the version.
func readShape(ctx context.Context, c *conn) (*shape, error) {
	sh := &shape{objects: map[string]object{}, columns: map[string][]string{}}
	rows, err := c.query(ctx, "SELECT type, name, tbl_name, COALESCE(sql, '') FROM main.sqlite_schema")
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.sql); err != nil {
			return nil, err
		}
		sh.objects[o.name] = o
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if sh.blank() {
		return sh, sh.readMarks(ctx, c)
	}
	for _, t := range []string{"sessions", "messages", "state_meta"} {
		if err := sh.readColumns(ctx, c, t); err != nil {
			return nil, err
		}
	}
	if sh.has("schema_version") && strings.Contains(sh.objects["schema_version"].sql, "version") {
		err = c.queryRow(ctx, []any{&sh.version}, readVersion)
		if err == nil {
			err = c.queryRow(ctx, []any{&sh.versions}, "SELECT COUNT(*) FROM main.schema_version")
		}
	}
	if c.forgiving && errors.Is(err, sessiondb.ErrCorrupt) {
		sh.version, err = sh.likelyVersion(), nil
	}
	return sh, err
}

// likelyVersion tells from the columns which schema this is, for reading.
func (sh *shape) likelyVersion() int {
	if sh.hasColumn("messages", "active") || sh.hasColumn("sessions", "archived") {
		return SchemaVersion + 1
	}
	return SchemaVersion
}

// readMarks looks for the numbers that programs mark their databases with. A
// session store has none.
func (sh *shape) readMarks(ctx context.Context, c *conn) error {
	for _, pragma := range []string{"PRAGMA application_id", "PRAGMA user_version"} {
		var n int64
		if err := c.queryRow(ctx, []any{&n}, pragma); err != nil {
			return err
		}
		sh.claimed = sh.claimed || n != 0
	}
	return nil
}

func (sh *shape) readColumns(ctx context.Context, c *conn, table string) error {
	if !sh.has(table) {
		return nil
	}
	rows, err := c.query(ctx, "SELECT name FROM pragma_table_info(?, 'main')", table)
	if err != nil {
		return err
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		sh.columns[table] = append(sh.columns[table], name)
	}
	return rows.Err()
}

func (sh *shape) has(name string) bool {
	_, ok := sh.objects[name]
	return ok
}

func (sh *shape) hasColumn(table, name string) bool {
	return slices.Contains(sh.columns[table], name)
}

// missingColumns lists what a table lacks of its declared columns.
func (sh *shape) missingColumns(table string) (out []column) {
	for _, c := range columnsOf(table) {
		if !sh.hasColumn(table, c.name) {
			out = append(out, c)
		}
	}
	return out
}

// essential columns make a table of that name ours. None can be added later.
var essential = map[string][]string{
	"sessions": {"id", "source", "started_at"},
	"messages": {"id", "session_id", "role", "content", "timestamp"},
}

// blank says that a database has nothing in it.
func (sh *shape) blank() bool { return len(sh.objects) == 0 }

// ours says whether this is a session store, if perhaps an unfinished one.
func (sh *shape) ours() bool {
	if sh.blank() {
		return !sh.claimed
	}
	found := 0
	for table, columns := range essential {
		o, ok := sh.objects[table]
		if !ok {
			continue
		}
		found++
		if o.kind != "table" || slices.ContainsFunc(columns, func(c string) bool { return !sh.hasColumn(table, c) }) {
			return false
		}
	}
	return found == len(essential) || sh.has("schema_version") && (found > 0 || sh.onlyOurs())
}

// onlyOurs says that every object bears a name of ours.
func (sh *shape) onlyOurs() bool {
	for name := range sh.objects {
		if !strings.HasPrefix(name, "sqlite_") && name != textView && !slices.ContainsFunc(declared, func(o object) bool { return o.name == name }) {
			return false
		}
	}
	return true
}
