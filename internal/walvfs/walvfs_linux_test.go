package walvfs_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/sessiondb-go/sessiondb/internal/walvfs"
)

// open opens one connection to a database with a log.
func open(t *testing.T, path, vfs string, pragmas ...string) *sql.Conn {
	t.Helper()
	uri := "file:" + path + "?_busy_timeout=1000"
	if vfs != "" {
		uri += "&vfs=" + vfs
	}
	for _, p := range append(pragmas, "journal_mode(WAL)", "wal_autocheckpoint(0)") {
		uri += "&_pragma=" + p
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = db.Close() })
	return c
}

func exec(t *testing.T, c *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TestOthersSeeCommits writes through the layer, with pages of all sizes, with more in a
// transaction than the cache holds, undone in part, with and without a sync; a connection
// without the layer finds each commit whole as soon as it is done.
func TestOthersSeeCommits(t *testing.T) {
	if walvfs.Name() == "" {
		t.Fatal("there is no layer")
	}
	for _, page := range []int{512, 4096, 65536} {
		for _, sync := range []string{"FULL", "NORMAL", "OFF"} {
			t.Run(fmt.Sprint(page, sync), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				w := open(t, path, walvfs.Name(), fmt.Sprintf("page_size(%d)", page), "synchronous("+sync+")", "cache_size(10)")
				r := open(t, path, "")
				exec(t, w, `CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE INDEX i ON t (x)`)
				random := rand.New(rand.NewPCG(1, uint64(page)))
				var want int64
				for i := range 24 {
					want += change(t, w, random, i)
					var got int64
					var check string
					if err := r.QueryRowContext(t.Context(), `SELECT COUNT(*), (SELECT * FROM pragma_integrity_check) FROM t`).Scan(&got, &check); err != nil {
						t.Fatal(err)
					}
					if got != want || check != "ok" {
						t.Fatalf("after commit %d: %d rows, not %d; %s", i, got, want, check)
					}
					if i%10 == 9 {
						exec(t, w, `PRAGMA wal_checkpoint(RESTART)`)
					}
				}
			})
		}
	}
}

// change commits some rows and returns how many more there are.
func change(t *testing.T, w *sql.Conn, random *rand.Rand, i int) int64 {
	var before, after int64
	count := func(n *int64) {
		if err := w.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM t`).Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	count(&before)
	exec(t, w, `BEGIN IMMEDIATE`)
	for range 1 + random.IntN(20) {
		exec(t, w, `INSERT INTO t (x) VALUES (?)`, strings.Repeat("x", random.IntN(400))+fmt.Sprint(random.Uint32()))
	}
	exec(t, w, `UPDATE t SET x = x || 'y' WHERE id % 7 = ?`, i%7)
	exec(t, w, `SAVEPOINT s; INSERT INTO t (x) SELECT x || 'z' FROM t`)
	if i%8 > 0 {
		exec(t, w, `ROLLBACK TO s`)
	} else {
		exec(t, w, `DELETE FROM t WHERE id % 3 = 1`)
	}
	exec(t, w, `RELEASE s`)
	count(&after)
	exec(t, w, `COMMIT`)
	return after - before
}

// TestFewerWrites counts the calls of the system that write.
func TestFewerWrites(t *testing.T) {
	calls := func(vfs string) int {
		w := open(t, filepath.Join(t.TempDir(), "a.db"), vfs, "synchronous(FULL)")
		exec(t, w, `CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)`)
		before := written(t)
		for range 50 {
			exec(t, w, `INSERT INTO t (x) VALUES (zeroblob(40000))`) // ten pages
		}
		return written(t) - before
	}
	own, ours := calls("unix"), calls(walvfs.Name())
	if own < 50*20 || ours > own/5 {
		t.Errorf("%d calls, without the layer %d", ours, own)
	}
}

func written(t *testing.T) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(b), "syscw:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
