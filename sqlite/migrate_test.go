package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// older are the fixtures of our schema and those before, newer the others.
func fixtures(t *testing.T) (older, newer []string) {
	for _, name := range fixture.Names(t, "fixtures") {
		var v int
		if _, err := fmt.Sscanf(filepath.Base(name), "hermes-v%d", &v); err != nil {
			t.Fatal(name, err)
		}
		if v > SchemaVersion {
			newer = append(newer, name)
		} else {
			older = append(older, name)
		}
	}
	return older, newer
}

// contents are the rows of a table, by the columns that the file has.
func contents(t *testing.T, c *conn, table string, columns []string) []string {
	t.Helper()
	return dump(t, c, "SELECT "+strings.Join(columns, ", ")+" FROM main."+table+" ORDER BY id")
}

func shapeOf(t *testing.T, c *conn) *shape {
	t.Helper()
	sh, err := readShape(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return sh
}

// structure is what must be the same in every store: the declared objects
// without the order of columns.
func structure(sh *shape) map[string]string {
	out := map[string]string{}
	for _, o := range declared {
		out[o.name] = strings.Join(strings.Fields(sh.objects[o.name].sql), " ")
		if columns := sh.columns[o.name]; columns != nil {
			columns = slices.Clone(columns)
			slices.Sort(columns)
			out[o.name] = strings.Join(columns, " ")
		}
	}
	return out
}

func TestMigrate(t *testing.T) {
	wantStructure := structure(fresh(t).shape)
	older, _ := fixtures(t)
	if len(older) < 9 {
		t.Fatalf("only %v", older)
	}
	for _, name := range older {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			before := shapeOf(t, raw(t, path))
			was := map[string][]string{}
			for _, table := range []string{"sessions", "messages"} {
				was[table] = contents(t, raw(t, path), table, before.columns[table])
			}
			s := open(t, path, Options{})
			if i := s.Info(); i.ReadOnly || i.SchemaVersion != SchemaVersion {
				t.Errorf("info %+v", i)
			}
			got := structure(s.shape)
			if before.version == SchemaVersion {
				got[activityIndex] = wantStructure[activityIndex] // comes with the first write
			}
			if diff := cmp.Diff(wantStructure, got); diff != "" {
				t.Errorf("structure (-new store +migrated):\n%s", diff)
			}
			for table, rows := range was {
				if diff := cmp.Diff(rows, contents(t, s.w, table, before.columns[table])); diff != "" {
					t.Errorf("%s changed (-before +after):\n%s", table, diff)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if before.version < SchemaVersion {
				consistent(t, path)
			} else {
				sound(t, path)
			}
		})
	}
}

func TestMigrateTwiceChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	older, _ := fixtures(t)
	for _, name := range older {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			for range 2 {
				if err := open(t, path, Options{}).Close(); err != nil {
					t.Fatal(err)
				}
			}
			first := hash(t, path)
			s := open(t, path, Options{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := hash(t, path); got != first {
				t.Error("another open changed the file")
			}
		})
	}
}

func TestMigrateReportsProgress(t *testing.T) {
	var last, total int64
	open(t, fixture.Copy(t, "hermes-v1.db"), Options{Progress: func(what string, done, of int64) {
		if what == "" || done <= 0 {
			t.Errorf("progress %q %d of %d", what, done, of)
		}
		last, total = done, of
	}})
	if last == 0 || last != total {
		t.Errorf("ended at %d of %d", last, total)
	}
}

// The damage that opening mends, and what is right afterwards.
func TestHeal(t *testing.T) {
	wantStructure := structure(fresh(t).shape)
	for _, name := range []string{
		"v11-missing-columns.db", "v11-no-fts.db", "v11-no-indexes.db", "v11-no-triggers.db", "v11-no-trigram.db",
		"v11-no-version-row.db", "v11-two-versions-old-first.db", "v11-extra-schema.db",
	} {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			before := shapeOf(t, raw(t, path))
			s := open(t, path, Options{})
			got := structure(s.shape)
			got[activityIndex] = wantStructure[activityIndex]
			if name == "v11-extra-schema.db" {
				for _, table := range []string{"sessions", "messages"} {
					got[table] = wantStructure[table] // unknown columns stay
				}
			}
			if diff := cmp.Diff(wantStructure, got); diff != "" {
				t.Errorf("structure (-new store +mended):\n%s", diff)
			}
			for name, o := range before.objects {
				if strings.HasPrefix(name, "plugin") && s.shape.objects[name] != o {
					t.Errorf("%s was touched", name)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sound(t, path)
		})
	}
}

func TestDuplicateTitlesDoNotShutTheStore(t *testing.T) {
	path := fixture.Copy(t, "v11-dup-titles.db")
	var log logged
	s := open(t, path, Options{Logger: log.logger()})
	if s.shape.has(titleIndex) {
		t.Error("unique index over equal titles")
	}
	if len(log.lines) != 1 || !strings.Contains(log.lines[0], "same title") {
		t.Errorf("warnings %q", log.lines)
	}
	if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"}); err != nil {
		t.Error(err)
	}
}

// Only the virtual table's row is gone; its parts are still there.
func TestHealLostVirtualTable(t *testing.T) {
	for _, version := range []int{10, SchemaVersion} {
		path := fixture.Copy(t, "hermes-v11.db")
		c := raw(t, path)
		run(t, c, "UPDATE schema_version SET version = ?", version)
		run(t, c, "PRAGMA writable_schema = ON")
		run(t, c, "DELETE FROM sqlite_schema WHERE name = 'messages_fts'")
		run(t, c, "PRAGMA writable_schema = OFF")
		_ = c.close()
		if err := open(t, path, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		sound(t, path, "messages_fts")
	}
}

// A part of the full-text table is gone, so that not even dropping it works.
func TestHealLostPart(t *testing.T) {
	for _, part := range parts {
		path := fixture.Copy(t, "hermes-v11.db")
		c := raw(t, path)
		run(t, c, "DROP TABLE messages_fts"+part)
		_ = c.close()
		if err := open(t, path, Options{}).Close(); err != nil {
			t.Fatal(part, err)
		}
		sound(t, path, "messages_fts")
	}
}

// An index that lost its triggers has holes before messages it knows; each is
// filled, however large.
func TestHealHoles(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	c := raw(t, path)
	for _, index := range indexes {
		for _, trigger := range triggersOf(index) {
			run(t, c, "DROP TRIGGER "+trigger)
		}
		run(t, c, "DELETE FROM "+index+" WHERE rowid BETWEEN 3 AND 500")
	}
	run(t, c, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
 INSERT INTO messages (id, session_id, role, content, timestamp)
 SELECT 100000 + i, (SELECT id FROM sessions LIMIT 1), 'user', 'hole ' || i, i FROM n`, 2*fillStep)
	for _, index := range indexes {
		run(t, c, "INSERT INTO "+index+" (rowid, content) SELECT id, "+indexedText+" FROM messages WHERE id = ?", 100000+2*fillStep)
	}
	_ = c.close()
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, path)
}

func TestNotAStore(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	c, err := openConn(t.Context(), foreign, access{mode: "rwc"})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"PRAGMA journal_mode = WAL", "CREATE TABLE messages (id INTEGER PRIMARY KEY, body TEXT)",
		"CREATE VIEW sessions AS SELECT 1 AS id, 2 AS source, 3 AS started_at", "INSERT INTO messages (body) VALUES ('x')",
	} {
		run(t, c, q)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"garbage":         fixture.Copy(t, "v11-not-a-db.db"),
		"another program": fixture.Copy(t, "v11-other-sqlite.db"),
		"a header":        fixture.Copy(t, "v11-header-only.db"),
		"with a view":     foreign,
	} {
		for _, readOnly := range []bool{false, true} {
			before, files := hash(t, path), neighbours(t, path)
			_, err := Open(t.Context(), path, Options{ReadOnly: readOnly})
			if !errors.Is(err, sessiondb.ErrNotStore) && !(name == "a header" && errors.Is(err, sessiondb.ErrCorrupt)) {
				t.Errorf("%s: %v", name, err)
			}
			if hash(t, path) != before {
				t.Errorf("%s: the file was changed", name)
			}
			if diff := cmp.Diff(files, neighbours(t, path)); diff != "" {
				t.Errorf("%s: files were left:\n%s", name, diff)
			}
		}
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{}); !errors.Is(err, sessiondb.ErrNotStore) {
		t.Errorf("a directory: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.db")
	if _, err := Open(t.Context(), missing, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing, read-only: %v", err)
	}
	if exists(missing) {
		t.Error("a read-only open made the file")
	}
}

func TestZeroBytesAreANewStore(t *testing.T) {
	path := fixture.Copy(t, "v11-zero-byte.db")
	if got := open(t, path, Options{ReadOnly: true}); scalar[int64](t, got.readers.idle[0], "SELECT COUNT(*) FROM sessions") != 0 {
		t.Error("sessions in an empty file")
	}
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	consistent(t, path)
}

// Where a file was moved away or emptied and its log is left, no store is made:
// SQLite would delete the log.
func TestLogLeftBehind(t *testing.T) {
	for name, tt := range map[string]struct {
		file, left string
		spoil      func(path string) error
	}{
		"moved":   {"v11-dangling-wal.db", "-wal", func(path string) error { return os.Rename(path, path+".moved") }},
		"emptied": {"v11-dangling-wal.db", "-wal", func(path string) error { return os.Truncate(path, 0) }},
		"journal": {"v11-hot-journal.db", "-journal", os.Remove},
	} {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, tt.file)
			if err := tt.spoil(path); err != nil {
				t.Fatal(err)
			}
			before := hash(t, path+tt.left)
			if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil {
				t.Error("opened to read")
			}
			_, err := Open(t.Context(), path, Options{})
			if !errors.Is(err, sessiondb.ErrNotStore) || !strings.Contains(err.Error(), tt.left) {
				t.Errorf("open: %v", err)
			}
			if hash(t, path+tt.left) != before || fileHolds(path) {
				t.Error("something was made or changed")
			}
		})
	}
}

func TestRecovery(t *testing.T) {
	count := func(t *testing.T, s *store, word string) int64 {
		return scalar[int64](t, s.w, "SELECT COUNT(*) FROM messages WHERE content LIKE '%'||?||'%'", word)
	}
	s := open(t, fixture.Copy(t, "v11-dangling-wal.db"), Options{})
	if c, a := count(t, s, "capybara"), count(t, s, "axolotl"); c != 20 || a != 0 {
		t.Errorf("from the log: %d committed, %d uncommitted", c, a)
	}
	path := fixture.Copy(t, "v11-hot-journal.db")
	before := hash(t, path)
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.Is(err, sessiondb.ErrReadOnly) {
		t.Errorf("read-only, with a journal to roll back: %v", err)
	}
	if hash(t, path) != before {
		t.Error("a read-only open changed the file")
	}
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, path)
}

func TestDamagedPages(t *testing.T) {
	path := fixture.Copy(t, "v11-truncated.db")
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, sessiondb.ErrCorrupt) {
		t.Errorf("truncated: %v", err)
	}
	d := db(open(t, fixture.Copy(t, "v11-badpage-messages.db"), Options{}))
	if _, err := d.Sessions(t.Context(), sessiondb.ListFilter{Limit: -1}); !errors.Is(err, sessiondb.ErrCorrupt) {
		t.Errorf("bad page: %v", err)
	}
}

// Nothing more is written once a write met damage, also where it would succeed.
func TestDamageStopsWriting(t *testing.T) {
	s := fresh(t)
	damaged := errors.New("a page")
	err := s.Write(t.Context(), func(engine.Execer) error { return named(sessiondb.ErrCorrupt, damaged) })
	if !errors.Is(err, damaged) {
		t.Errorf("first write: %v", err)
	}
	for what, err := range map[string]error{
		"write":   s.Write(t.Context(), put(t.Context(), "a")),
		"compact": compact(t, s),
	} {
		if !errors.Is(err, sessiondb.ErrCorrupt) || !errors.Is(err, damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Read(t.Context(), func(engine.Queryer) error { return nil }); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := open(t, s.path, Options{}).Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Errorf("opened again: %v", err)
	}
}
