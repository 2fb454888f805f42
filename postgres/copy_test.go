package postgres

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/pgtest"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func file(t *testing.T, path string, o sqlite.Options) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func export(t *testing.T, db *sessiondb.DB) []string {
	t.Helper()
	var b bytes.Buffer
	if _, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range bytes.Lines(b.Bytes()) {
		lines = append(lines, string(line))
	}
	return lines
}

func copyStore(t *testing.T, from, to *sessiondb.DB) sessiondb.CopyReport {
	t.Helper()
	r, err := sessiondb.Copy(t.Context(), from, to, sessiondb.CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A file that is copied to a server and back is the same to the byte, and so is what
// the server has.
func TestCopyThereAndBack(t *testing.T) {
	for _, name := range append(fixture.Names(t, "fixtures"), "v11-odd-types.db", "v11-bad-json.db") {
		t.Run(name, func(t *testing.T) {
			source := file(t, fixture.Copy(t, name), sqlite.Options{})
			if source.Info().ReadOnly {
				server := openAt(t, usedSchema(t))
				if _, err := sessiondb.Copy(t.Context(), source, server, sessiondb.CopyOptions{}); err == nil {
					t.Error("a store of a newer schema was copied")
				}
				return
			}
			server := openAt(t, usedSchema(t))
			there := copyStore(t, source, server)
			want := export(t, source)
			if d := cmp.Diff(want, export(t, server)); d != "" {
				t.Error(d)
			}
			back := file(t, filepath.Join(t.TempDir(), "back.db"), sqlite.Options{})
			r := copyStore(t, server, back)
			if d := cmp.Diff(want, export(t, back)); d != "" {
				t.Error(d)
			}
			if r.Checksum != there.Checksum || r.Messages != there.Messages || r.Messages == 0 {
				t.Errorf("%+v after %+v", r, there)
			}
		})
	}
}

// A file of an older schema that may not be migrated is copied as it reads.
func TestCopyOlder(t *testing.T) {
	path := fixture.Copy(t, "hermes-v4.db")
	server := openAt(t, usedSchema(t))
	source := file(t, path, sqlite.Options{ReadOnly: true})
	copyStore(t, source, server)
	if d := cmp.Diff(export(t, source), export(t, server)); d != "" {
		t.Error(d)
	}
}

// What the helper of TestCopyKilled is told.
const (
	killedFrom  = "SESSIONDB_TEST_COPY_FROM"
	killedTo    = "SESSIONDB_TEST_COPY_TO"
	killedAfter = "SESSIONDB_TEST_COPY_AFTER" // so many reports
)

// killSelf ends the process as SIGKILL does.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	select {}
}

// TestCopyKilledHelper is the process that TestCopyKilled kills.
func TestCopyKilledHelper(t *testing.T) {
	after, err := strconv.Atoi(os.Getenv(killedAfter))
	if err != nil {
		t.Skip("another test runs it")
	}
	from, to := file(t, os.Getenv(killedFrom), sqlite.Options{ReadOnly: true}), openAt(t, os.Getenv(killedTo))
	_, err = sessiondb.Copy(t.Context(), from, to, sessiondb.CopyOptions{Progress: func(string, int64, int64) {
		if after--; after < 0 {
			killSelf()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// A copy whose process is killed with SIGKILL, again and again, goes on where it was
// and ends with the same.
func TestCopyKilled(t *testing.T) {
	dsn := usedSchema(t)
	path := fixture.Copy(t, "hermes-v11.db")
	killed := 0
	for ; ; killed++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCopyKilledHelper$")
		cmd.Env = append(os.Environ(), pgtest.Variable+"="+server, killedFrom+"="+path, killedTo+"="+dsn, fmt.Sprint(killedAfter, "=", 2*killed))
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("%v: %s", err, out)
		}
	}
	source, target := file(t, path, sqlite.Options{ReadOnly: true}), openAt(t, dsn)
	if d := cmp.Diff(export(t, source), export(t, target)); d != "" || killed < 5 {
		t.Errorf("after %d kills: %s", killed, d)
	}
	if _, ok, err := target.Meta(t.Context(), "sessiondb_copy"); ok || err != nil {
		t.Errorf("a mark is left, %v", err)
	}
}
