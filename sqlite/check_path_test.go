package sqlite

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// older is what every store has that the original program filled: with a
// release of SQLite before 3.46.
const older = "index_older_sqlite"

// diagnoses are the codes of what Check finds in each damaged store.
var diagnoses = map[string]string{
	"v11-bad-json.db":               older,
	"v11-badpage-fts.db":            "index_damage " + older,
	"v11-badpage-messages.db":       "page_damage unchecked unchecked unchecked unchecked " + older,
	"v11-cycle.db":                  "parent_cycle parent_cycle counters " + older,
	"v11-dangling-wal.db":           "wal_left " + older,
	"v11-dup-titles.db":             "duplicate_title " + older,
	"v11-extra-schema.db":           older,
	"v11-header-only.db":            "truncated schema_unreadable",
	"v11-hot-journal.db":            "journal_left " + older,
	"v11-missing-columns.db":        "object_missing" + strings.Repeat(" column_missing", 6) + " index_schema index_schema",
	"v11-no-fts.db":                 "index_schema index_schema counters",
	"v11-no-indexes.db":             strings.Repeat("object_missing ", 5) + older,
	"v11-no-triggers.db":            strings.Repeat("trigger_missing ", 6) + "index_rows index_rows counters " + older,
	"v11-no-trigram.db":             "index_schema counters",
	"v11-no-version-row.db":         "version_missing " + older,
	"v11-not-a-db.db":               "not_database",
	"v11-odd-types.db":              "counters " + older + " odd_values",
	"v11-orphan-messages.db":        "orphan_messages missing_parent " + older,
	"v11-other-sqlite.db":           "other_program",
	"v11-stale-fts.db":              "index_rows index_rows " + older,
	"v11-truncated.db":              "truncated schema_unreadable",
	"v11-two-versions-old-first.db": "version_several " + older,
	"v11-version-99.db":             "schema_newer " + older,
	"v11-zero-byte.db":              "empty_file",
}

// TestCheckDamaged looks at every damaged store, and leaves each as it is, byte
// by byte, with nothing beside it that was not there.
func TestCheckDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	if diff := cmp.Diff(fixture.Names(t, "damaged"), slices.Sorted(maps.Keys(diagnoses))); diff != "" {
		t.Errorf("damaged stores (-), diagnoses (+):\n%s", diff)
	}
	for name, want := range diagnoses {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			before := bytesBeside(t, path)
			found := examine(t, path)
			if diff := cmp.Diff(want, codes(found)); diff != "" {
				t.Errorf("wanted (-), found (+):\n%s\n%v", diff, found)
			}
			if diff := cmp.Diff(before, bytesBeside(t, path)); diff != "" {
				t.Errorf("the files before (-) and after (+) a check:\n%s", diff)
			}
		})
	}
}

// TestCheckSound looks at stores that are as they should be.
func TestCheckSound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range fixture.Names(t, "fixtures") {
		if name == "hermes-v11a.db" { // an earlier layout of 11: it lacks columns
			continue
		}
		path := fixture.Copy(t, name)
		if found := examine(t, path); sessiondb.Worst(found).Bad() {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func examine(t *testing.T, path string) []sessiondb.Finding {
	t.Helper()
	found, err := Check(t.Context(), path, sessiondb.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := sessiondb.FindingKinds()
	for _, f := range found {
		if !slices.ContainsFunc(kinds, func(k sessiondb.FindingKind) bool { return k.Code == f.Code }) {
			t.Errorf("code %s is in no table", f.Code)
		}
	}
	return found
}

func codes(found []sessiondb.Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

// bytesBeside hashes every file of the folder, and notes when it was changed.
func bytesBeside(t *testing.T, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, suffix := range neighbours(t, path) {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		out[suffix] = hash(t, path+suffix) + info.ModTime().String() + info.Mode().String()
	}
	return out
}

// TestCheckNowhere looks at what is no file, or none that can be read.
func TestCheckNowhere(t *testing.T) {
	dir := t.TempDir()
	if got := codes(examine(t, filepath.Join(dir, "no", "state.db"))); got != "missing" {
		t.Errorf("a file that is not there: %s", got)
	}
	if got := codes(examine(t, dir)); got != "not_file" {
		t.Errorf("a folder: %s", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
	if _, err := Check(t.Context(), "", sessiondb.CheckOptions{}); err == nil {
		t.Error("no name is no error")
	}
	if os.Geteuid() == 0 {
		return
	}
	path := fixture.Copy(t, "hermes-v11.db")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if got := codes(examine(t, path)); got != "unreadable" {
		t.Errorf("a file that may not be read: %s", got)
	}
}

// TestCheckInUse looks at a store that this process has open, in the middle of
// a write: nothing changes, and no lock is lost. Another process tells, since
// reading the files in this one would drop the locks.
func TestCheckInUse(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no second program")
	}
	const look = `import hashlib, sqlite3, sys
path = sys.argv[1]
for suffix in "", "-wal", "-shm":
    print(hashlib.sha256(open(path + suffix, "rb").read()).hexdigest())
db = sqlite3.connect(path, timeout=0, isolation_level=None)
try:
    db.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as e:
    print(e)`
	outside := func(path string) string {
		out, err := exec.Command(python, "-c", look, path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "locked") {
			t.Errorf("another program could take the write lock: %s, %v", out, err)
		}
		return string(out)
	}
	s := fresh(t)
	if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	c := raw(t, s.path)
	run(t, c, "BEGIN IMMEDIATE")
	run(t, c, "UPDATE sessions SET title = 'unfinished'")
	before := outside(s.path)
	if found := examine(t, s.path); sessiondb.Worst(found).Bad() {
		t.Errorf("found %v", found)
	}
	if diff := cmp.Diff(before, outside(s.path)); diff != "" {
		t.Errorf("the files before (-) and after (+) a check:\n%s", diff)
	}
	run(t, c, "COMMIT")
}
