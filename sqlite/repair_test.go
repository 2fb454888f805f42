package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// cures are the codes of what is left in each damaged store after a repair;
// "refused" where nothing may be written to it, so that it stays as it is.
var cures = map[string]string{
	"v11-bad-json.db":               older,
	"v11-badpage-fts.db":            "page_waste " + older,
	"v11-badpage-messages.db":       "refused",
	"v11-cycle.db":                  older,
	"v11-dangling-wal.db":           older,
	"v11-dup-titles.db":             "duplicate_title " + older,
	"v11-extra-schema.db":           older,
	"v11-header-only.db":            "refused",
	"v11-hot-journal.db":            older,
	"v11-missing-columns.db":        "",
	"v11-no-fts.db":                 "",
	"v11-no-indexes.db":             older,
	"v11-no-triggers.db":            older,
	"v11-no-trigram.db":             "",
	"v11-no-version-row.db":         older,
	"v11-not-a-db.db":               "refused",
	"v11-odd-types.db":              older + " odd_values",
	"v11-orphan-messages.db":        older,
	"v11-other-sqlite.db":           "refused",
	"v11-stale-fts.db":              older,
	"v11-truncated.db":              "refused",
	"v11-two-versions-old-first.db": older,
	"v11-version-99.db":             "refused",
}

// TestRepairDamaged mends every damaged store, and loses no row on the way.
func TestRepairDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range fixture.Names(t, "damaged") {
		want, ok := cures[name]
		if !ok && name != "v11-zero-byte.db" { // that one counts as new
			t.Errorf("%s has no cure", name)
		}
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			before := bytesBeside(t, path)
			sessions, messages := rowsIn(t, path)
			if err := repairAt(t, path); err != nil {
				if want != "refused" {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before[""], bytesBeside(t, path)[""]); diff != "" {
					t.Errorf("refused, and changed: %s", diff)
				}
				return
			}
			if diff := cmp.Diff(want, codes(examine(t, path))); diff != "" {
				t.Errorf("left: wanted (-), found (+):\n%s", diff)
			}
			after, still := rowsIn(t, path)
			if diff := cmp.Diff(messages, still); diff != "" {
				t.Errorf("messages before (-) and after (+):\n%s", diff)
			}
			for _, s := range sessions {
				if !slices.Contains(after, s) {
					t.Errorf("session %s is gone", s)
				}
			}
		})
	}
}

// repairAt opens a store for writing and repairs it.
func repairAt(t *testing.T, path string) error {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	_, err = s.Repair(t.Context(), sessiondb.RepairOptions{})
	return err
}

// rowsIn lists the ids of the sessions, and every message whole, as far as they
// can be read in a copy.
func rowsIn(t *testing.T, path string) (sessions, messages []string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := copyFiles(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	c, err := openConn(t.Context(), to, access{mode: "rw"})
	if err != nil {
		return nil, nil
	}
	defer func() { _ = c.close() }()
	for query, into := range map[string]*[]string{
		"SELECT id FROM sessions ORDER BY id":                                                   &sessions,
		"SELECT id, session_id, role, content, tool_calls, timestamp FROM messages ORDER BY id": &messages,
	} {
		r, err := c.query(t.Context(), query)
		if err != nil {
			continue
		}
		for r.Next() {
			*into = append(*into, fmt.Sprintf("%#v", r.vals))
		}
		_ = r.Close()
	}
	return sessions, messages
}

// TestRepairIndexes makes indexes wrong in every way that messages don't tell,
// in both layouts, and finds and mends it.
func TestRepairIndexes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, layout := range []sessiondb.IndexLayout{sessiondb.InlineIndexes, sessiondb.ExternalIndexes} {
		for what, damage := range map[string]struct{ sql, code string }{
			"other text":        {"DROP TRIGGER messages_fts_update; UPDATE messages SET content = 'quagga'", "trigger_missing"},
			"text, put back":    {"DROP TRIGGER messages_fts_update; UPDATE messages SET content = 'quagga'; ", "index_text"},
			"another trigger":   {"DROP TRIGGER messages_fts_delete; CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN SELECT 1; END", "trigger_differs"},
			"another index":     {"DROP INDEX idx_messages_session; CREATE INDEX idx_messages_session ON messages(role)", "object_differs"},
			"a mark":            {"INSERT INTO state_meta VALUES ('" + staleKey + "', '1')", "index_stale"},
			"a part":            {"DROP TABLE messages_fts", "index_schema"},
			"two version rows":  {"INSERT INTO schema_version VALUES (3)", "version_several"},
			"a wrong counter":   {"UPDATE sessions SET message_count = 77", "counters"},
			"its own ancestor":  {"UPDATE sessions SET parent_session_id = id", "parent_cycle"},
			"a NULL as counter": {"UPDATE sessions SET message_count = NULL", "counters"},
		} {
			t.Run(string(layout)+" "+what, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "state.db")
				fillStore(t, path, layout)
				c, err := openConn(t.Context(), path, access{mode: "rw"})
				if err != nil {
					t.Fatal(err)
				}
				if err := c.script(t.Context(), damage.sql); err != nil {
					t.Fatal(err)
				}
				if damage.code == "index_text" {
					l := inline
					if layout == sessiondb.ExternalIndexes {
						l = external
					}
					if err := c.script(t.Context(), l.find("messages_fts_update").sql); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.close(); err != nil {
					t.Fatal(err)
				}
				full := sessiondb.CheckOptions{Full: true}
				found, err := Check(t.Context(), path, full)
				if err != nil || !slices.ContainsFunc(found, func(f sessiondb.Finding) bool { return f.Code == damage.code }) {
					t.Fatalf("found %v, %v", found, err)
				}
				repairFull(t, path)
				if found, err = Check(t.Context(), path, full); err != nil || len(found) > 0 {
					t.Errorf("left %v, %v", found, err)
				}
			})
		}
	}
}

func repairFull(t *testing.T, path string) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err = s.Repair(t.Context(), sessiondb.RepairOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
}

// fillStore makes a store with one session and a few messages.
func fillStore(t *testing.T, path string, l sessiondb.IndexLayout) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	_, err = s.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli"})
	for i := range 5 {
		_, e := s.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprint("zebra ", i))})
		err = errors.Join(err, e)
	}
	_, e := s.Compact(t.Context(), sessiondb.CompactOptions{Layout: l})
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
}

// TestRepairKeepsDelegatesHidden unlinks a subagent's session from a parent that
// is gone: what it was is not forgotten.
func TestRepairKeepsDelegatesHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	fillStore(t, path, sessiondb.InlineIndexes)
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	err = c.script(t.Context(), `PRAGMA foreign_keys = OFF;
INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('sub', 'subagent', 1, 'gone')`)
	if e := c.close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	if err := repairAt(t, path); err != nil {
		t.Fatal(err)
	}
	got := dump(t, raw(t, path), "SELECT session_id, parent_id, kind FROM sessiondb_orphans")
	if diff := cmp.Diff([]string{`[]driver.Value{"sub", "gone", "delegate"}`}, got); diff != "" {
		t.Errorf("remembered:\n%s", diff)
	}
}

// TestRepairKeepsChildrenListed gives messages a session from which another one
// came, which was listed and still is.
func TestRepairKeepsChildrenListed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	fillStore(t, path, sessiondb.InlineIndexes)
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	err = c.script(t.Context(), `PRAGMA foreign_keys = OFF;
INSERT INTO messages (session_id, role, timestamp) VALUES ('lost', 'user', 5);
INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('child', 'cli', 9, 'lost')`)
	if e := c.close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	listed := func() (ids []string) {
		s := open(t, path, Options{ReadOnly: true})
		page, err := db(s).Sessions(t.Context(), sessiondb.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			ids = append(ids, e.ID)
		}
		slices.Sort(ids)
		return ids
	}
	before := listed()
	if err := repairAt(t, path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(before, "lost"), listed()); diff != "" {
		t.Errorf("listed before, and the session made (-), now (+):\n%s", diff)
	}
	if found := examine(t, path); len(found) > 0 {
		t.Errorf("left %v", found)
	}
}
