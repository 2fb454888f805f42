package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// salvage is a table on its way from a damaged store to the new one.
type salvage struct {
	RecoveredTable
	root    uint32 // 0 where nothing tells
	sql     string
	columns []salvaged // as they stand in a record
	id      int        // the column that is the id of the row, -1 for none
	idName  string     // what the id can be called
	keyed   bool       // a table without row ids
	lost    []sqlitefile.Lost
	damaged bool // rows may stand where nothing leads to
}

// salvaged is a column of a record.
type salvaged struct {
	name     string
	affinity byte // of T text, I integer, N numeric, R real, B none
	notNull  bool
	required bool // NOT NULL, without a default
	computed bool // its value is stored, but can't be given
}

// coreTables are always made; the first three head the report.
var coreTables = []string{"sessions", "messages", "state_meta", "schema_version"}

// readSchema finds out which tables there are.
func (r *recovery) readSchema() error {
	objects, whole := r.src.Schema()
	r.objects, r.SchemaDamaged = objects, !whole
	for _, o := range objects {
		if isTable(o) {
			r.tables = append(r.tables, &salvage{RecoveredTable: RecoveredTable{Name: o.Name}, root: o.Root, sql: o.SQL, damaged: o.Root == 0})
		}
	}
	if whole && r.table("sessions") == nil && r.table("messages") == nil && !slices.ContainsFunc(indexes, r.keepsText) {
		return errNothingOurs("it holds no sessions and messages")
	}
	r.addCore(whole)
	slices.SortFunc(r.tables, func(a, b *salvage) int {
		if d := rank(a.Name) - rank(b.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	log, journal := r.src.WAL, r.src.Journal
	r.LogFrames, r.LogFramesLost, r.JournalPages = int64(log.Frames), int64(log.Broken), int64(journal.Records)
	return nil
}

// addCore adds the tables that every store has and this one lacks. The rows of
// one with history may still stand where nothing leads to, or in an index.
func (r *recovery) addCore(whole bool) {
	for _, name := range coreTables {
		if r.table(name) != nil {
			continue
		}
		history := essential[name] != nil
		r.tables = append(r.tables, &salvage{RecoveredTable: RecoveredTable{Name: name}, sql: find(name).sql, damaged: !whole || history})
		if whole && history {
			r.note("the table %s was missing", name)
		}
	}
}

func rank(table string) int {
	if i := slices.Index(coreTables, table); i >= 0 {
		return i
	}
	return len(coreTables)
}

func (r *recovery) table(name string) *salvage {
	if i := slices.IndexFunc(r.tables, func(t *salvage) bool { return t.Name == name }); i >= 0 {
		return r.tables[i]
	}
	return nil
}

// isTable says whether the rows of a table are to be copied: not what SQLite
// makes by itself.
func isTable(o sqlitefile.Object) bool {
	return o.Type == "table" && !isVirtual(o) && !strings.HasPrefix(o.Name, "sqlite_") && !isPart(o.Name)
}

func isVirtual(o sqlitefile.Object) bool {
	return o.Type == "table" && strings.HasPrefix(strings.ToUpper(o.SQL), "CREATE VIRTUAL")
}

// isPart says whether a table is where one of our full-text tables keeps its
// data: those are made anew.
func isPart(name string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		index, ok := strings.CutSuffix(name, part)
		return ok && slices.Contains(indexes, index)
	})
}

// prepare sets the new database up for being filled: it is thrown away if
// anything fails, and made durable at the end.
func (r *recovery) prepare(ctx context.Context) error {
	h := r.src.Header
	script := fmt.Sprintf("PRAGMA page_size = %d; PRAGMA user_version = %d; PRAGMA application_id = %d;", r.src.PageSize(), h.UserVersion, h.ApplicationID)
	return r.c.script(ctx, script+`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = FILE;
CREATE TEMP TABLE traces (tbl TEXT, id INTEGER, col INTEGER, value, PRIMARY KEY (tbl, id, col)) WITHOUT ROWID;
CREATE TEMP TABLE cuts (tbl TEXT, id INTEGER, PRIMARY KEY (tbl, id)) WITHOUT ROWID;`)
}

// createTables makes the tables as the damaged store has them. One that can't
// be made is left out and noted.
func (r *recovery) createTables(ctx context.Context) error {
	var made []*salvage
	for _, t := range r.tables {
		err := r.create(ctx, t.sql)
		if err == nil {
			err = r.describe(ctx, t)
		}
		switch {
		case err != nil && slices.Contains(coreTables, t.Name):
			return err
		case err != nil:
			r.note("table %s is left out: %v", t.Name, err)
		default:
			made = append(made, t)
		}
	}
	r.tables = made
	for _, name := range []string{"sessions", "messages"} {
		for _, col := range essential[name] {
			if !slices.ContainsFunc(r.table(name).columns, func(c salvaged) bool { return c.name == col }) {
				return errNothingOurs("it holds the tables of another program")
			}
		}
	}
	return r.readVersion()
}

// create runs one CREATE statement of the damaged store, and nothing behind it.
func (r *recovery) create(ctx context.Context, sql string) error {
	if !single(sql) {
		return fmt.Errorf("its declaration can't be used")
	}
	return r.c.script(ctx, sql)
}

// describe asks SQLite for the columns of a table that was made.
func (r *recovery) describe(ctx context.Context, t *salvage) error {
	err := r.c.queryRow(ctx, []any{&t.keyed}, "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", t.Name)
	if err != nil {
		return err
	}
	rows, err := r.c.query(ctx, `SELECT name, upper(type), "notnull", "notnull" AND dflt_value IS NULL, pk, hidden FROM pragma_table_xinfo(?, 'main')`, t.Name)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var order []int // where it stands in a record
	keys := 0
	t.id = -1
	for rows.Next() {
		var c salvaged
		var kind string
		var pk, hidden int
		if err := rows.Scan(&c.name, &kind, &c.notNull, &c.required, &pk, &hidden); err != nil {
			return err
		}
		if c.affinity, c.computed = affinity(kind), hidden == 3; hidden == 1 || hidden == 2 {
			continue // no record holds it
		}
		if pk > 0 && kind == "INTEGER" && !t.keyed {
			t.id = len(t.columns)
		}
		if keys += min(pk, 1); pk == 0 || !t.keyed {
			pk = math.MaxInt
		}
		t.columns, order = append(t.columns, c), append(order, pk)
	}
	if keys > 1 {
		t.id = -1
	}
	t.arrange(order)
	return rows.Err()
}

// arrange puts the columns into the order of a record: in a table without row
// ids the key comes first.
func (t *salvage) arrange(order []int) {
	byName := map[string]int{}
	for i, c := range t.columns {
		byName[c.name] = order[i]
	}
	slices.SortStableFunc(t.columns, func(a, b salvaged) int {
		return min(max(byName[a.name]-byName[b.name], -1), 1)
	})
	for _, name := range []string{"_rowid_", "rowid", "oid"} {
		if _, taken := byName[name]; !taken && t.idName == "" && !t.keyed {
			t.idName = name
		}
	}
}

// affinity is what SQLite makes of a declared type.
func affinity(kind string) byte {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(kind, p) })
	}
	switch {
	case has("INT"):
		return 'I'
	case has("CHAR", "CLOB", "TEXT"):
		return 'T'
	case kind == "" || has("BLOB"):
		return 'B'
	case has("REAL", "FLOA", "DOUB"):
		return 'R'
	}
	return 'N'
}

// newerColumns tell the version of a store whose version row is lost.
var newerColumns = []struct {
	table, column string
	version       int
}{
	{"sessions", "system_prompt_hash", 25}, {"sessions", "last_activity_at", 23}, {"messages", "api_content", 20},
	{"messages", "active", 14}, {"messages", "platform_message_id", 12},
}

// readVersion reads the version row before anything is copied: it decides who
// makes the indexes.
func (r *recovery) readVersion() error {
	if root := r.table("schema_version").root; root > 0 {
		_, err := r.src.Table(root, func(row sqlitefile.Row) error {
			if len(row.Values) > 0 {
				v, _ := row.Values[0].(int64)
				r.version = max(r.version, int(v))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if r.FromVersion = r.version; r.version > 0 {
		return nil
	}
	for _, n := range newerColumns {
		if slices.ContainsFunc(r.table(n.table).columns, func(c salvaged) bool { return c.name == n.column }) {
			r.version = n.version
			return nil
		}
	}
	return nil
}

// newer says that the store keeps the schema of a newer program.
func (r *recovery) newer() bool { return r.version > SchemaVersion }
