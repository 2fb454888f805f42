package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestRecoverPlaces hits the pages that hurt most. Whatever else is lost, rows
// on other pages come back as they were.
func TestRecoverPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	o := study(t, "hermes-v11.db")
	c := raw(t, fixture.Copy(t, "hermes-v11.db"))
	root := func(name string) int {
		return int(scalar[int64](t, c, "SELECT rootpage FROM sqlite_schema WHERE name = ?", name))
	}
	all := func(p []byte) { clear(p) }
	for _, c := range []struct {
		name      string
		pages     []int
		spoil     func([]byte)
		found     bool // messages without a way to them
		schema    bool // is damaged
		retrieved int64
	}{
		{"a header overwritten", []int{1}, func(p []byte) { copy(p, strings.Repeat("not a database!!", 7)[:100]) }, false, false, 840},
		{"the magic overwritten", []int{1}, func(p []byte) { copy(p, "Sqlite format 4") }, false, false, 840},
		{"page 1 zeroed", []int{1}, all, false, true, 840},
		{"the root of messages zeroed", []int{root("messages")}, all, true, false, 840},
		{"the roots of messages and of its index zeroed", []int{root("messages"), root("idx_messages_session")}, all, true, false, 840},
		{"page 1 and the root of messages zeroed", []int{1, root("messages")}, all, true, true, 840},
		{"the roots of all tables of ours zeroed", []int{root("messages"), root("sessions"), root("state_meta"), root("schema_version")}, all, true, false, 840},
		{"all roots zeroed", o.roots(t), all, true, false, 840},
	} {
		t.Run(c.name, func(t *testing.T) {
			hit := map[int]bool{}
			for _, n := range c.pages {
				hit[n] = true
			}
			report, wrong := o.recover(t, o.damage(hit, c.spoil))
			if len(wrong) > 0 {
				t.Errorf("%d rows are wrong, the first: %s", len(wrong), wrong[0])
			}
			m := report.Table("messages")
			if m.Rows != c.retrieved || m.Cut+m.Rebuilt != 0 || (m.Found > 0) != c.found || report.SchemaDamaged != c.schema {
				t.Errorf("messages %+v, schema damaged %v", m, report.SchemaDamaged)
			}
			if s := report.Table("sessions"); s.Rows != 93 {
				t.Errorf("sessions %+v", s)
			}
		})
	}
}

// roots are the root pages of everything but the schema.
func (o *original) roots(t *testing.T) (out []int) {
	c := raw(t, fixture.Copy(t, "hermes-v11.db"))
	r, err := c.query(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE rootpage > 1")
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		out = append(out, int(r.vals[0].(int64)))
	}
	return out
}

// TestRecoverEverything: of a sound store of any version every row of every
// table comes back as it was, and every object that is not an index of ours.
func TestRecoverEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	names := append(fixture.Names(t, "fixtures"), "v11-odd-types.db", "v11-extra-schema.db", "v11-bad-json.db", "v11-cycle.db")
	for _, name := range names[len(names)-few(len(names)):] {
		t.Run(name, func(t *testing.T) {
			src := fixture.Copy(t, name)
			dst, report := recovered(t, src)
			if !report.Complete() {
				t.Errorf("something is missing: %+v", report)
			}
			before, after := raw(t, src), raw(t, dst)
			for _, table := range tablesOf(t, before) {
				compareTables(t, table, before, after)
			}
			objects := "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'messages_fts%' ORDER BY 1, 2"
			if report.FromVersion <= SchemaVersion { // columns of ours may have been added
				objects = strings.Replace(objects, ", sql", "", 1)
			}
			have := dump(t, after, objects)
			for _, object := range dump(t, before, objects) {
				if !slices.Contains(have, object) {
					t.Errorf("lost: %s", object)
				}
			}
			if seq := "SELECT MAX(seq) FROM sqlite_sequence"; scalar[int64](t, before, seq) != scalar[int64](t, after, seq) {
				t.Errorf("the next id of a message is another one")
			}
		})
	}
}

func tablesOf(t *testing.T, c *conn) (out []string) {
	t.Helper()
	r, err := c.query(t.Context(), `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
 AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'messages_fts%' AND name <> 'schema_version'`)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		out = append(out, r.vals[0].(string))
	}
	return out
}

// compareTables compares the columns that a table had before, but for counters,
// which are counted again. A parent that was forgotten counts as it was.
func compareTables(t *testing.T, table string, before, after *conn) {
	t.Helper()
	r, err := before.query(t.Context(), "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for r.Next() {
		if name := r.vals[0].(string); name != "message_count" && name != "tool_call_count" && name != "parent_session_id" {
			columns = append(columns, quoted(name))
		}
	}
	if table == "sessions" {
		if diff := cmp.Diff(parents(t, before), parents(t, after)); diff != "" {
			t.Errorf("parents before (-), recovered (+):\n%s", diff)
		}
	}
	where := ""
	if table == "state_meta" {
		where = " WHERE key <> 'sessiondb_orphans'"
	}
	query := fmt.Sprintf("SELECT rowid, %s FROM %s%s ORDER BY rowid", strings.Join(columns, ", "), quoted(table), where)
	if scalar[int64](t, before, "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", table) == 1 {
		query = fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", strings.Join(columns, ", "), quoted(table))
	}
	if diff := cmp.Diff(dump(t, before, query), dump(t, after, query)); diff != "" {
		t.Errorf("%s: before (-), recovered (+):\n%s", table, diff)
	}
}

// TestRecoverOddTables: encodings, page sizes, keys without row ids, columns
// that came later, computed ones, full-text tables of other programs.
func TestRecoverOddTables(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, pragma := range []string{"page_size = 512", "page_size = 65536", "encoding = 'UTF-16le'", "encoding = 'UTF-16be'", "auto_vacuum = FULL"} {
		t.Run(pragma, func(t *testing.T) {
			src := newPath(t)
			if err := os.WriteFile(src, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c := raw(t, src)
			run(t, c, "PRAGMA "+pragma)
			if err := c.script(t.Context(), schemaSQL+oddTables); err != nil {
				t.Fatal(err)
			}
			dst, report := recovered(t, src)
			if len(report.Notes) > 0 || report.PagesLost > 0 {
				t.Errorf("%+v", report)
			}
			after := raw(t, dst)
			for _, table := range tablesOf(t, c) {
				compareTables(t, table, c, after)
			}
			if n := scalar[int64](t, after, "SELECT COUNT(*) FROM notes WHERE notes MATCH 'capybara'"); n != 1 {
				t.Errorf("%d hits in the full-text table of another program", n)
			}
		})
	}
}

const oddTables = `
INSERT INTO schema_version VALUES (11);
INSERT INTO sessions (id, source, started_at, title) VALUES ('s1', 'cli', 1, 'ünïcödé 배포'), ('s2', 'cli', 2.5, 'a;b "c"');
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', 'short', 3), ('s1', 'assistant', replace(hex(zeroblob(100000)), '0', 'x배'), 4),
 ('s2', 'user', x'00ff', 5), ('s2', 'user', 1.5, 6), ('s2', 'user', NULL, 7), ('s2', 'user', '', 8);
CREATE TABLE keyed (a TEXT, b INTEGER, c TEXT, d REAL, PRIMARY KEY (c, b)) WITHOUT ROWID;
INSERT INTO keyed VALUES ('one', 1, 'x', 1), ('two', 2, 'y', 0.5), (replace(hex(zeroblob(3000)), '0', 'z'), 3, 'w', NULL);
CREATE TABLE grown (a INTEGER);
INSERT INTO grown VALUES (1), (-1), (127), (-32768), (8388607), (2147483647), (140737488355327), (9223372036854775807), (-9223372036854775808), (0), (NULL);
ALTER TABLE grown ADD COLUMN b TEXT NOT NULL DEFAULT 'later';
INSERT INTO grown VALUES (2, 'now');
CREATE TABLE computed (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, c INTEGER GENERATED ALWAYS AS (a * 3) STORED, d TEXT);
INSERT INTO computed (a, d) VALUES (1, 'x'), (5, 'y');
CREATE TABLE "odd ""name" ("rowid" TEXT, "a b" BLOB);
INSERT INTO "odd ""name" VALUES ('r', zeroblob(20000)), ('q', x'00');
CREATE VIRTUAL TABLE notes USING fts5(body);
INSERT INTO notes VALUES ('a capybara'), ('an axolotl');
CREATE VIEW seen AS SELECT title FROM sessions;
CREATE TRIGGER watch AFTER DELETE ON grown BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM keyed WHERE b = old.a; END;
`

// TestRecoverHostileSchema: what stands behind a declaration is not run.
func TestRecoverHostileSchema(t *testing.T) {
	for sql, want := range map[string]bool{
		"CREATE TABLE a (b)":                      true,
		"create table a (b); ":                    true,
		"CREATE TABLE a (b DEFAULT ';')":          true,
		"CREATE TABLE a (b) -- ; that's it":       true,
		"CREATE TABLE a (b); ATTACH 'x' AS y":     false,
		"ATTACH 'x' AS y":                         false,
		"CREATE TABLE a (b /* */ ); DROP TABLE c": false,
		"": false,
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN DELETE FROM c; END":                    true,
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END;": true,
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN DELETE FROM c; END; ATTACH 'x' AS y":   false,
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN DELETE FROM c; END; SELECT 1; END":     false,
	} {
		if got := single(sql); got != want {
			t.Errorf("single(%q) = %v", sql, got)
		}
	}
	src := newPath(t)
	s := open(t, src, Options{})
	other := filepath.Join(t.TempDir(), "other.db")
	run(t, s.w, "CREATE TABLE fine (a)")
	run(t, s.w, "PRAGMA writable_schema = ON")
	run(t, s.w, "UPDATE sqlite_schema SET sql = sql || '; ATTACH ''"+other+"'' AS other; CREATE TABLE other.x (y)' WHERE name = 'fine'")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, report := recovered(t, src)
	if exists(other) || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "table fine is left out") {
		t.Errorf("other file: %v, notes %q", exists(other), report.Notes)
	}
}
