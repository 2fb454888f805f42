package sqlite

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestFreelist garbles the list of free pages. Whoever looks at a whole file
// calls that damage; who writes notices what can't be right by itself, so that
// no page that is in use is overwritten.
func TestFreelist(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, c := range []struct {
		name    string
		garble  func(file []byte, trunk, used, root uint32)
		written bool // a writer can't tell
	}{
		{"names a page in use", func(file []byte, trunk, used, _ uint32) { setWord(file, trunk, 8, used) }, true},
		{"names where a table begins", func(file []byte, trunk, _, root uint32) { setWord(file, trunk, 8, root) }, false},
		{"names a page twice", func(file []byte, trunk, _, _ uint32) { setWord(file, trunk, 8, trunk) }, false},
		{"names a page past the end", func(file []byte, trunk, _, _ uint32) { setWord(file, trunk, 8, 1<<30) }, false},
		{"is a page in use", func(file []byte, _, used, _ uint32) { setWord(file, 1, 32, used) }, false},
	} {
		for _, prepare := range []string{"", "VACUUM"} {
			t.Run(strings.TrimSpace(c.name+" "+prepare), func(t *testing.T) {
				path := withFreePages(t, prepare)
				garbleFreelist(t, path, c.garble)
				if got := codes(examine(t, path)); !strings.Contains(got, "page_damage") {
					t.Errorf("doctor finds %q", got)
				}
				if _, err := verified(t, path); !errors.Is(err, sessiondb.ErrCorrupt) {
					t.Errorf("verified: %v", err)
				}
				dst := filepath.Join(t.TempDir(), "copy.db")
				s := open(t, path, Options{})
				if _, err := s.Backup(t.Context(), dst); !errors.Is(err, sessiondb.ErrCorrupt) || exists(dst) {
					t.Errorf("backed up: %v", err)
				}
				_, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "new", Source: "cli"})
				if c.written != (err == nil) || err != nil && !errors.Is(err, sessiondb.ErrCorrupt) {
					t.Errorf("wrote: %v", err)
				}
			})
		}
	}
}

// verified verifies a store as it is.
func verified(t *testing.T, path string) (int64, error) {
	b, err := open(t, path, Options{ReadOnly: true}).Verify(t.Context())
	return b.Messages, err
}

func setWord(file []byte, page, at, value uint32) {
	size := uint32(binary.BigEndian.Uint16(file[16:]))
	binary.BigEndian.PutUint32(file[(page-1)*size+at:], value)
}

// withFreePages is a store some of whose pages are free, in one file. After a
// VACUUM by whoever else writes it, SQLite's check of everything may leave the
// list of them out.
func withFreePages(t *testing.T, prepare string) string {
	path := fixture.Copy(t, "hermes-v11.db")
	c := raw(t, path)
	run(t, c, "PRAGMA journal_mode = DELETE")
	if prepare != "" {
		run(t, c, prepare)
	}
	run(t, c, "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT randomblob(3000) AS b FROM n")
	run(t, c, "DROP TABLE filler")
	if n := scalar[int64](t, c, "PRAGMA freelist_count"); n < 20 {
		t.Fatalf("%d free pages", n)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// garbleFreelist changes the bytes of a store. It gets the first trunk, a page of
// messages, and their root.
func garbleFreelist(t *testing.T, path string, garble func(file []byte, trunk, used, root uint32)) {
	c := raw(t, path)
	used := scalar[int64](t, c, "SELECT MAX(pageno) FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf'")
	root := scalar[int64](t, c, "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'")
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	garble(file, binary.BigEndian.Uint32(file[32:]), uint32(used), uint32(root))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}
