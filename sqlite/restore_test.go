package sqlite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// aBackup is a backup of a small store, and its rows.
func aBackup(t *testing.T) (path string, rows []string) {
	t.Helper()
	s := fresh(t)
	d := db(s)
	for _, id := range []string{"one", "two"} {
		if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("restored " + id)}); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "backup.db")
	if err := d.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, rowsOf(t, path)
}

var restoreClock = RestoreOptions{Now: func() time.Time { return time.Unix(1778000000, 0) }}

const restoreStamp = "20260505T165320Z"

// holdsNow fails unless a store has these rows and nothing beside it that could
// be applied to it.
func holdsNow(t *testing.T, path string, want []string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-journal"} {
		if fileHolds(path + suffix) {
			t.Errorf("there is a %s", suffix)
		}
	}
	if got := rowsOf(t, path); !slices.Equal(got, want) {
		t.Errorf("the store has %d rows, want %d, or they differ", len(got), len(want))
	}
}

// Over stores of any version: the store has what the backup holds, and what was
// there is kept.
func TestRestoreOverEveryVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	backup, want := aBackup(t)
	for _, name := range append(fixture.Names(t, "fixtures"), "v11-dangling-wal.db", "v11-hot-journal.db", "v11-extra-schema.db") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fixture.Copy(t, name)
			twin := fixture.Copy(t, name)
			r, err := Restore(t.Context(), path, backup, restoreClock)
			if err != nil {
				t.Fatal(err)
			}
			if r.Kept != path+".before-restore-"+restoreStamp || r.KeptDamaged || r.Messages != 2 || r.Sessions != 2 {
				t.Errorf("%+v", r)
			}
			holdsNow(t, path, want)
			if got, was := rowsOf(t, r.Kept), rowsOf(t, twin); !slices.Equal(got, was) {
				t.Errorf("%d rows were kept, want %d, or they differ", len(got), len(was))
			}
			s := open(t, path, Options{})
			if n, err := db(s).MessageCount(t.Context(), ""); err != nil || n != 2 {
				t.Errorf("%d messages, %v", n, err)
			}
		})
	}
}

// Over damaged stores, and where there is none.
func TestRestoreOverDamage(t *testing.T) {
	backup, want := aBackup(t)
	type result struct {
		kept bool
		err  error
	}
	for name, expect := range map[string]result{
		"v11-badpage-messages.db": {kept: true},
		"v11-badpage-fts.db":      {kept: true},
		"v11-truncated.db":        {kept: true},
		"v11-header-only.db":      {kept: true},
		"v11-not-a-db.db":         {kept: true},
		"v11-zero-byte.db":        {},
		"v11-other-sqlite.db":     {err: sessiondb.ErrNotStore},
		"none":                    {},
		"lost, but for its log":   {kept: true},
		"empty, but for its log":  {kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var path string
			switch {
			case strings.HasSuffix(name, ".db"):
				path = fixture.Copy(t, name)
			case name == "none":
				path = filepath.Join(t.TempDir(), "state.db")
			default:
				path = fixture.Copy(t, "v11-dangling-wal.db")
				if err := os.Truncate(path, 0); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(name, "lost") {
					_ = os.Remove(path)
				}
			}
			before := map[string]string{}
			for _, suffix := range []string{"", "-wal"} {
				if exists(path + suffix) {
					before[suffix] = hash(t, path+suffix)
				}
			}
			r, err := Restore(t.Context(), path, backup, restoreClock)
			if !errors.Is(err, expect.err) {
				t.Fatal(err)
			}
			if err != nil {
				if hash(t, path) != before[""] || len(neighbours(t, path)) != 1 {
					t.Errorf("it was changed, or there is more: %q", neighbours(t, path))
				}
				return
			}
			holdsNow(t, path, want)
			if (r.Kept != "") != expect.kept {
				t.Errorf("kept %q", r.Kept)
			}
			if r.KeptDamaged && before["-wal"] == "" && name != "v11-badpage-messages.db" && hash(t, r.Kept) != before[""] {
				t.Error("what was kept is not what was there")
			}
			if before["-wal"] != "" && hash(t, r.Kept+"-wal") != before["-wal"] {
				t.Error("the log that was kept is not the one that was there")
			}
		})
	}
}

// A page of another size, and a store much longer than what replaces it.
func TestRestoreOtherPageSize(t *testing.T) {
	backup, want := aBackup(t)
	for _, size := range []string{"512", "1024", "16384", "65536"} {
		path := newPath(t)
		c, err := openConn(t.Context(), path, access{mode: "rwc", pragmas: []string{"page_size(" + size + ")", "journal_mode(WAL)"}})
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, "CREATE TABLE schema_version (version INTEGER NOT NULL)")
		run(t, c, "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL)")
		run(t, c, "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, timestamp REAL)")
		run(t, c, "INSERT INTO messages (content) WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i+1 FROM n WHERE i < 2000) SELECT hex(randomblob(100)) FROM n")
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		r, err := Restore(t.Context(), path, backup, restoreClock)
		if err != nil {
			t.Fatal(err)
		}
		holdsNow(t, path, want)
		if n := scalar[int64](t, raw(t, r.Kept), "SELECT COUNT(*) FROM messages"); n != 2000 || r.KeptDamaged {
			t.Errorf("%d rows kept, %+v", n, r)
		}
		consistent(t, path)
	}
}

// What can't be restored changes nothing.
func TestRestoreRefuses(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	before := hash(t, path)
	self := filepath.Join(t.TempDir(), "self.db")
	if err := os.Symlink(path, self); err != nil {
		t.Skip(err)
	}
	for from, want := range map[string]error{
		fixture.Copy(t, "v11-badpage-messages.db"): sessiondb.ErrCorrupt,
		fixture.Copy(t, "v11-truncated.db"):        sessiondb.ErrCorrupt,
		fixture.Copy(t, "v11-not-a-db.db"):         sessiondb.ErrNotStore,
		fixture.Copy(t, "v11-other-sqlite.db"):     sessiondb.ErrNotStore,
		fixture.Copy(t, "v11-zero-byte.db"):        sessiondb.ErrNotStore,
		newPath(t):                                 os.ErrNotExist,
		self:                                       sessiondb.ErrInvalid,
	} {
		for _, dry := range []bool{true, false} {
			if _, err := Restore(t.Context(), path, from, RestoreOptions{DryRun: dry}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", from, err, want)
			}
		}
	}
	backup, _ := aBackup(t)
	r, err := Restore(t.Context(), path, backup, RestoreOptions{DryRun: true})
	if err != nil || r.Messages != 2 || r.Kept != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if hash(t, path) != before || len(neighbours(t, path)) != 1 {
		t.Errorf("the store was changed, or there is more: %q", neighbours(t, path))
	}
}

// A restore that is given up leaves the store as it was, and nothing beside it.
func TestRestoreInterrupted(t *testing.T) {
	backup, _ := aBackup(t)
	for _, stop := range []string{"copying pages", "verifying", "keeping what is there, pages", "verifying what is there", "restoring pages"} {
		path := fixture.Copy(t, "hermes-v11.db")
		want := rowsOf(t, fixture.Copy(t, "hermes-v11.db"))
		ctx, cancel := context.WithCancel(t.Context())
		stopped := false
		_, err := Restore(ctx, path, backup, RestoreOptions{Progress: func(what string, done, total int64) {
			if what == stop {
				stopped = true
				cancel()
			}
		}})
		cancel()
		if !stopped || stop != "restoring pages" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stop, err)
		}
		if err == nil { // it was through
			continue
		}
		if got := neighbours(t, path); len(got) != 1 {
			t.Errorf("%s: left behind %q", stop, got)
		}
		holdsNow(t, path, want)
	}
}

// A store that somebody has open, if only idly, is not touched; the error says
// who it is where the system tells.
func TestRestoreInUse(t *testing.T) {
	backup, want := aBackup(t)
	inUse := func(t *testing.T, path string, pid int) {
		t.Helper()
		_, err := Restore(t.Context(), path, backup, RestoreOptions{})
		var e *sessiondb.InUseError
		if !errors.As(err, &e) || !errors.Is(err, sessiondb.ErrBusy) {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" && !slices.ContainsFunc(e.Users, func(p sessiondb.Process) bool { return p.PID == pid }) {
			t.Errorf("%v does not name %d", err, pid)
		}
	}
	t.Run("by this process", func(t *testing.T) {
		s := fresh(t)
		inUse(t, s.path, os.Getpid())
		if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "x", Source: "cli"}); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Restore(t.Context(), s.path, backup, RestoreOptions{}); err != nil {
			t.Error(err)
		}
		holdsNow(t, s.path, want)
	})
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run("by another program, "+mode, func(t *testing.T) {
			if mode == "DELETE" && runtime.GOOS != "linux" {
				t.Skip("an idle connection holds nothing")
			}
			path := fixture.Copy(t, "hermes-v11.db")
			cmd := exec.Command("python3", "-c", `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("PRAGMA journal_mode = " + sys.argv[2])
c.execute("SELECT COUNT(*) FROM messages").fetchone()
print("open", flush=True)
sys.stdin.read()
`, path, mode)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Skip(err)
			}
			if _, err := out.Read(make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			inUse(t, path, cmd.Process.Pid)
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(t.Context(), path, backup, RestoreOptions{}); err != nil {
				t.Error(err)
			}
			holdsNow(t, path, want)
		})
	}
}

// Where the system does not tell who has a store open, the lock does.
func TestRestoreMeetsALock(t *testing.T) {
	s := fresh(t)
	c := raw(t, s.real)
	run(t, c, "BEGIN")
	scalar[int64](t, c, "SELECT COUNT(*) FROM sessions")
	if _, err := (&target{real: s.real}).lockWhole(t.Context()); !isBusy(err) {
		t.Error(err)
	}
}
