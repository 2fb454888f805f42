package sqlite

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// sweptPage is the size of the pages of a store that is swept: small ones, so
// that a few rows make trees of several levels.
const sweptPage = 512

// sweptStore makes a small store with everything in it: long messages, tables of
// another program with constraints and a full-text index, free pages.
func sweptStore(t *testing.T, l sessiondb.IndexLayout) string {
	t.Helper()
	path := newPath(t)
	fillStore(t, path, l)
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, "PRAGMA journal_mode = DELETE")
	for i := range 8 {
		run(t, c, "INSERT INTO sessions (id, source, started_at, title) VALUES (?, 'cli', ?, ?)", fmt.Sprint("s", i), i, fmt.Sprint("title ", i))
		run(t, c, "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)",
			fmt.Sprint("s", i), strings.Repeat(fmt.Sprint("quagga ", i, " "), 1+i*10), i)
	}
	err = c.script(t.Context(), `UPDATE sessions SET message_count = (SELECT COUNT(*) FROM messages m WHERE m.session_id = sessions.id);
INSERT INTO state_meta VALUES ('k', 'v');
CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, place TEXT, UNIQUE (place, name));
CREATE TABLE pairs (a TEXT, b TEXT, PRIMARY KEY (a, b DESC)) WITHOUT ROWID;
CREATE VIRTUAL TABLE found USING fts5(name);
CREATE TABLE waste (b);
INSERT INTO notes SELECT id, 'note ' || id, 'place ' || id FROM messages;
INSERT INTO pairs SELECT 'a' || id, 'b' FROM messages;
INSERT INTO found SELECT name FROM notes;
INSERT INTO waste SELECT zeroblob(3000) FROM notes;
PRAGMA page_size = `+fmt.Sprint(sweptPage)+`; VACUUM; DELETE FROM waste; PRAGMA journal_mode = WAL`)
	if e := c.close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	if found, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: true}); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	return path
}

var everyPage = flag.Bool("every-page", false, "damage every page of a store, not a sample of them: some minutes")

// TestSweep damages pages of a store, one at a time. What a quick check, a
// full one and a backup say of it must agree; what is mended has every row, and
// for what is not the next command is told.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, layout := range []sessiondb.IndexLayout{sessiondb.InlineIndexes, sessiondb.ExternalIndexes} {
		path := sweptStore(t, layout)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &sweep{told: map[string]int{}}
		step := 11
		switch {
		case *everyPage:
			step = 1
		case testing.Short(), layout == sessiondb.ExternalIndexes: // of which most is the same
			step = 29
		}
		r := rand.New(rand.NewPCG(3, 4))
		for page := 2 + r.IntN(step); page <= len(good)/sweptPage; page += step {
			for _, garbled := range []bool{false, true} {
				bad := bytes.Clone(good)
				at := bad[(page-1)*sweptPage : page*sweptPage]
				clear(at)
				for i := range at {
					if garbled {
						at[i] = byte(r.Uint32())
					}
				}
				s.what = fmt.Sprintf("%s, page %d, garbled %v", layout, page, garbled)
				s.try(t, bad)
			}
		}
		t.Logf("%s: %d pages: %v", layout, len(good)/sweptPage, s.told)
	}
}

// rowsWithin are the rows of a store, without the schema.
func rowsWithin(t *testing.T, path string) (out []string) {
	return slices.DeleteFunc(rowsOf(t, path), func(row string) bool {
		return strings.Contains(row, `"index"`) || strings.Contains(row, `"table"`) || strings.Contains(row, `"trigger"`) || strings.Contains(row, `"view"`)
	})
}

// sweep tries what damage does.
type sweep struct {
	what   string
	mended int
	told   map[string]int
}

func (s *sweep) try(t *testing.T, bad []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	found := s.examine(t, path)
	lost := sessiondb.Worst(found) == sessiondb.SeverityError
	s.told[fmt.Sprintf("lost %v", lost)]++
	s.backup(t, path, found, lost)
	var rows []string
	if !lost {
		rows = rowsWithin(t, path)
	}
	err := repairAt(t, path)
	left := examine(t, path)
	if lost {
		if is, e := os.ReadFile(path); e != nil || !bytes.Equal(is, bad) || err == nil {
			t.Errorf("%s: a repair of what is lost: %v, changed: %v", s.what, err, !bytes.Equal(is, bad))
		}
		if !slices.ContainsFunc(left, func(f sessiondb.Finding) bool { return strings.HasPrefix(f.Fix, "sessiondb recover ") }) {
			t.Errorf("%s: nothing says recover: %v", s.what, left)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v: %v", s.what, err, found)
		return
	}
	for _, f := range left {
		if f.Severity.Bad() && f.Code != "page_waste" {
			t.Errorf("%s: after %v is left %v", s.what, found, f)
		}
	}
	if diff := cmp.Diff(rows, rowsWithin(t, path)); diff != "" {
		t.Errorf("%s: rows before (-), mended (+):\n%s", s.what, diff)
	}
	if s.mended++; len(left) == 0 || s.mended%8 != 0 { // it takes long
		return
	}
	st := open(t, path, Options{})
	if err := compact(t, st); err != nil {
		t.Errorf("%s: compact: %v", s.what, err)
	}
	_ = st.Close()
	if left := examine(t, path); len(left) > 0 {
		t.Errorf("%s: after compact is left %v", s.what, left)
	}
}

// examine checks quickly and in full, which sees more of what can be mended, and
// the same of what is lost.
func (s *sweep) examine(t *testing.T, path string) []sessiondb.Finding {
	t.Helper()
	quick := examine(t, path)
	full, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range quick {
		if !strings.Contains(codes(full), f.Code) {
			t.Errorf("%s: only a quick check tells %v, a full one %v", s.what, f, full)
		}
	}
	for _, f := range full {
		if f.Severity == sessiondb.SeverityError && f.Code != "unchecked" && !strings.Contains(codes(quick), f.Code) {
			t.Errorf("%s: only a full check tells %v, a quick one %v", s.what, f, quick)
		}
	}
	return quick
}

// backup makes one of what has lost nothing, and of nothing else.
func (s *sweep) backup(t *testing.T, path string, found []sessiondb.Finding, lost bool) {
	t.Helper()
	st, err := openStore(t.Context(), path, Options{ReadOnly: true}, settings{})
	if err != nil {
		if !lost {
			t.Errorf("%s: can't be opened: %v: %v", s.what, err, found)
		}
		return
	}
	defer func() { _ = st.Close() }()
	r, err := db(st).BackupWithReport(t.Context(), filepath.Join(filepath.Dir(path), "backup.db"))
	if lost == (err == nil) {
		t.Errorf("%s: a backup is made: %v; doctor: %v", s.what, err, found)
	}
	for _, f := range r.Findings {
		if !strings.Contains(codes(found), f.Code) {
			t.Errorf("%s: only a backup finds %v, doctor: %v", s.what, f, found)
		}
	}
}

// TestMendIndexPages mends the pages of indexes in a store that the original
// program filled with an older release of SQLite. Nothing but what is damaged is
// told.
func TestMendIndexPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	sound := fixture.Copy(t, "hermes-v11.db")
	good, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsWithin(t, sound)
	for page, want := range map[int]string{
		4:  "btree_index " + older + " check_waits", // of a PRIMARY KEY
		9:  "btree_index " + older,
		13: "btree_index " + older, // of titles
		15: "index_damage " + older,
		46: "btree_index " + older, // of a PRIMARY KEY of another program
		52: "btree_index " + older,
	} {
		path := newPath(t)
		bad := bytes.Clone(good)
		clear(bad[(page-1)*4096 : page*4096])
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, codes(examine(t, path))); diff != "" {
			t.Errorf("page %d: wanted (-), found (+):\n%s", page, diff)
		}
		if err := repairAt(t, path); err != nil {
			t.Errorf("page %d: %v", page, err)
		}
		if diff := cmp.Diff("page_waste "+older, codes(examine(t, path))); diff != "" {
			t.Errorf("page %d: left: wanted (-), found (+):\n%s", page, diff)
		}
		if diff := cmp.Diff(rows, rowsWithin(t, path)); diff != "" {
			t.Errorf("page %d: rows before (-) and after (+):\n%s", page, diff)
		}
	}
}

// An index that lost what it keeps about itself is an index to be made anew.
func TestMendIndexSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, index := range indexes {
		for _, spoil := range []string{"DELETE FROM %s_config", "UPDATE %s_config SET v = 99"} {
			path := fixture.Copy(t, "hermes-v11.db")
			c, err := openConn(t.Context(), path, access{mode: "rw"})
			if err != nil {
				t.Fatal(err)
			}
			run(t, c, fmt.Sprintf(spoil, index))
			if err := c.close(); err != nil {
				t.Fatal(err)
			}
			found, err := Check(t.Context(), path, sessiondb.CheckOptions{})
			if got := codes(found); err != nil || !strings.Contains(got, "index_damage") || sessiondb.Worst(found) != sessiondb.SeverityWarning {
				t.Errorf("%s: %s, %v", index, got, err)
			}
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Repair(t.Context(), sessiondb.RepairOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := db.Compact(t.Context(), sessiondb.CompactOptions{}); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if found, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: true}); err != nil || sessiondb.Worst(found) == sessiondb.SeverityWarning || sessiondb.Worst(found) == sessiondb.SeverityError {
				t.Errorf("%s, mended: %s, %v", index, codes(found), err)
			}
		}
	}
}
