package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// rowsOf lists every row of every table that is no part of a full-text index,
// with its row id where it has one.
func rowsOf(t *testing.T, path string) (out []string) {
	t.Helper()
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	tables, err := readTrees(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(tables.tables)
	for _, name := range tables.tables {
		if tables.indexOf(name) != "" {
			continue
		}
		if !strings.Contains(scalar[string](t, c, "SELECT sql FROM sqlite_schema WHERE name = ?", name), "WITHOUT ROWID") {
			out = append(out, dump(t, c, `SELECT '`+name+`', rowid, * FROM "`+name+`" ORDER BY rowid`)...)
			continue
		}
		out = append(out, dump(t, c, `SELECT '`+name+`', * FROM "`+name+`"`)...)
	}
	return append(out, dump(t, c, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")...)
}

// A backup has every row of every table, with its row id, and the schema, of a
// store of any version; the store is not touched.
func TestBackupOfEveryVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range fixture.Names(t, "fixtures") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fixture.Copy(t, name)
			before := hash(t, path)
			s := open(t, path, Options{ReadOnly: true})
			dst := filepath.Join(t.TempDir(), "copy.db")
			r, err := db(s).BackupWithReport(t.Context(), dst)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if r.Messages == 0 || r.Sessions == 0 || r.SchemaVersion != s.shape.version || r.Bytes != fileSize(t, dst) || len(r.Findings) > 0 {
				t.Errorf("%+v", r)
			}
			if got := neighbours(t, dst); !slices.Equal(got, []string{""}) {
				t.Errorf("the folder holds %q", got)
			}
			if hash(t, path) != before {
				t.Error("the store was changed")
			}
			if got, want := rowsOf(t, dst), rowsOf(t, path); !slices.Equal(got, want) {
				t.Errorf("%d rows, want %d, or they differ", len(got), len(want))
			}
		})
	}
}

// What may be wrong with a store, and whether a backup can be made of it.
func TestBackupOfDamagedStores(t *testing.T) {
	fails := map[string]error{
		"v11-badpage-messages.db": sessiondb.ErrCorrupt,
		"v11-zero-byte.db":        sessiondb.ErrNotStore, // nothing is no backup
	}
	unopened := map[string]bool{
		"v11-header-only.db": true, "v11-truncated.db": true, "v11-other-sqlite.db": true,
		"v11-not-a-db.db": true, "v11-hot-journal.db": true, // only a writer can undo it
	}
	warns := map[string]string{
		"v11-badpage-fts.db": "full-text index messages_fts is damaged",
	}
	for _, name := range fixture.Names(t, "damaged") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openStore(t.Context(), fixture.Copy(t, name), Options{ReadOnly: true}, settings{})
			if unopened[name] != (err != nil) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			defer func() { _ = s.Close() }()
			dst := filepath.Join(t.TempDir(), "copy.db")
			r, err := db(s).BackupWithReport(t.Context(), dst)
			if !errors.Is(err, fails[name]) {
				t.Errorf("%v, want %v", err, fails[name])
			}
			if err != nil && len(neighbours(t, dst)) > 0 {
				t.Errorf("left behind: %q", neighbours(t, dst))
			}
			warned := slices.ContainsFunc(r.Findings, func(f sessiondb.Finding) bool {
				return f.Severity == "warning" && strings.Contains(f.What, warns[name])
			})
			if _, want := warns[name]; want != warned {
				t.Errorf("findings: %v", r.Findings)
			}
		})
	}
}

// Where no backup may come to be.
func TestBackupTargets(t *testing.T) {
	s := fresh(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	for _, name := range []string{other, filepath.Join(dir, "logged.db-wal")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(filepath.Join(dir, "elsewhere.db"), link); err != nil {
		t.Skip(err)
	}
	for dst, want := range map[string]error{
		"":                                sessiondb.ErrInvalid,
		"a\x00b":                          sessiondb.ErrInvalid,
		other:                             fs.ErrExist,
		dir:                               fs.ErrExist,
		link:                              fs.ErrExist,
		s.path:                            fs.ErrExist,
		s.path + "-journal":               sessiondb.ErrInvalid,
		s.path + "-queue":                 sessiondb.ErrInvalid,
		s.path + "-wal":                   sessiondb.ErrInvalid,
		other + "-wal":                    sessiondb.ErrInvalid,
		filepath.Join(dir, "logged.db"):   sessiondb.ErrInvalid,
		filepath.Join(dir, "no", "such"):  fs.ErrNotExist,
		filepath.Join(other, "within.db"): fs.ErrInvalid,
	} {
		err := db(s).Backup(t.Context(), dst)
		if err == nil || want != fs.ErrInvalid && !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", dst, err, want)
		}
	}
	if got, want := neighbours(t, other), []string{"link.db", "logged.db-wal", ""}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// A backup is for its owner alone, whatever the umask, and the folder it is
// made in as well.
func TestBackupPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions")
	}
	s := fresh(t)
	dst := filepath.Join(t.TempDir(), "copy.db")
	var inside []string
	s.progress = func(string, int64, int64) {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(dst), stagePrefix+"*"))
		for _, f := range found {
			info, err := os.Lstat(f)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", f, info.Mode(), err)
			}
		}
		inside = found
	}
	if err := db(s).Backup(t.Context(), dst); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dst); err != nil || info.Mode().Perm() != 0o600 || len(inside) != 1 {
		t.Errorf("%v, %v, made in %v", info.Mode(), err, inside)
	}
}

// A backup that is given up leaves nothing.
func TestBackupInterrupted(t *testing.T) {
	s := fresh(t)
	for _, stop := range []string{"copying pages", "verifying"} {
		ctx, cancel := context.WithCancel(t.Context())
		s.progress = func(what string, _, _ int64) {
			if what == stop {
				cancel()
			}
		}
		dst := filepath.Join(t.TempDir(), "copy.db")
		if err := db(s).Backup(ctx, dst); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stop, err)
		}
		if got := neighbours(t, dst); len(got) > 0 {
			t.Errorf("%s: left behind: %q", stop, got)
		}
		cancel()
	}
}

// What killed runs left is removed, what runs that live are at is not.
func TestBackupSweeps(t *testing.T) {
	if !canQueue {
		t.Skip("locks don't tell who lives")
	}
	dir := t.TempDir()
	alive, err := newStage(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.remove()
	dead, err := newStage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.lock.Close(); err != nil { // as the system does when a process dies
		t.Fatal(err)
	}
	foreign, young := filepath.Join(dir, stagePrefix+"mine"), filepath.Join(dir, stagePrefix+"young")
	for _, d := range []string{foreign, young} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, d := range []string{alive.dir, dead.dir, foreign} {
		if err := os.Chtimes(d, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := db(fresh(t)).Backup(t.Context(), filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		alive.copy(): true, dead.dir: false, young: true,
		filepath.Join(foreign, "notes.txt"): true, filepath.Join(dir, "copy.db"): true,
	} {
		if exists(path) != want {
			t.Errorf("%s: exists is %v", path, !want)
		}
	}
}

// A backup is of the file that is at the path.
func TestBackupOfReplacedFile(t *testing.T) {
	s := fresh(t)
	if err := os.Rename(s.path, s.path+".gone"); err != nil {
		t.Skip(err)
	}
	dst := filepath.Join(t.TempDir(), "copy.db")
	if err := db(s).Backup(t.Context(), dst); !errors.Is(err, sessiondb.ErrReplaced) || exists(dst) {
		t.Errorf("%v", err)
	}
	if err := os.Rename(s.path+".gone", s.path); err != nil {
		t.Fatal(err)
	}
}

// A store that others only let us read can be backed up.
func TestBackupOfProtectedStore(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{ReadOnly: true})
	dst := filepath.Join(t.TempDir(), "copy.db")
	if err := db(s).Backup(t.Context(), dst); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if fileSize(t, dst) != fileSize(t, path) {
		t.Errorf("%d bytes of %d", fileSize(t, dst), fileSize(t, path))
	}
}
