package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// longTexts makes a store of messages with pages behind their rows, in a single
// file, and returns what it holds.
func longTexts(t *testing.T) (path string, rows []string) {
	t.Helper()
	path = newPath(t)
	s := open(t, path, Options{})
	if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		m := sessiondb.Message{Role: "assistant", Content: sessiondb.Text(strings.Repeat(fmt.Sprint("quagga ", i, " é "), 500+100*i)),
			ToolCalls: []byte(`[{"id": "c", "function": {"name": "dig", "arguments": "` + strings.Repeat("x", 500*i) + `"}}]`)}
		if _, err := db(s).AppendMessage(t.Context(), "s", m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := raw(t, path)
	run(t, c, "PRAGMA journal_mode = DELETE")
	rows = dump(t, c, "SELECT * FROM messages")
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return path, rows
}

// zeroLastPages clears the page at the end of the text of every message.
func zeroLastPages(t *testing.T, path string) {
	t.Helper()
	c := raw(t, path)
	last := dump(t, c, "SELECT MAX(pageno) FROM dbstat WHERE name = 'messages' AND pagetype = 'overflow' GROUP BY substr(path, 1, instr(path, '+'))")
	size := scalar[int64](t, c, "PRAGMA page_size")
	if len(last) != 4 {
		t.Fatal(last)
	}
	var pages []int64
	for _, row := range last {
		var n int64
		if _, err := fmt.Sscanf(row, "[]driver.Value{%d}", &n); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, n)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range pages {
		clear(file[(n-1)*size : n*size])
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTextsLost takes the ends of messages, which SQLite does not notice. Nobody
// makes the indexes anew of what is left, and recover takes the text from there.
func TestTextsLost(t *testing.T) {
	path, rows := longTexts(t)
	zeroLastPages(t, path)
	for _, full := range []bool{false, true} {
		found, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: full})
		if err != nil || !strings.Contains(codes(found), "text_lost") || sessiondb.Worst(found) != sessiondb.SeverityError || strings.Contains(codes(found), "index_text") {
			t.Errorf("full %v: found %v, %v", full, found, err)
		}
	}
	s := open(t, path, Options{})
	if _, err := db(s).Repair(t.Context(), sessiondb.RepairOptions{}); !errors.Is(err, sessiondb.ErrCorrupt) {
		t.Errorf("repair: %v", err)
	}
	for _, layout := range []sessiondb.IndexLayout{"", sessiondb.ExternalIndexes} {
		if _, err := db(s).Compact(t.Context(), sessiondb.CompactOptions{Layout: layout}); !errors.Is(err, sessiondb.ErrCorrupt) {
			t.Errorf("compact, %q: %v", layout, err)
		}
	}
	if _, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db")); !errors.Is(err, sessiondb.ErrCorrupt) {
		t.Errorf("backup: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	to := newPath(t)
	r, err := Recover(t.Context(), path, to, RecoverOptions{})
	if err != nil || r.Complete() || r.Table("messages").Cut != 4 {
		t.Errorf("recovered %+v, %v", r, err)
	}
	if diff := cmp.Diff(rows, dump(t, raw(t, to), "SELECT * FROM messages")); diff != "" {
		t.Errorf("messages: wanted (-), recovered (+):\n%s", diff)
	}
	if found, err := Check(t.Context(), to, sessiondb.CheckOptions{Full: true}); err != nil || len(found) > 0 {
		t.Errorf("recovered: found %v, %v", found, err)
	}
}

// A NUL that a message always had is no damage.
func TestTextsWithNUL(t *testing.T) {
	for _, c := range []struct {
		text, was string
		lost      bool
	}{
		{"a\x00\x00d", "abcd", true},
		{"abcd", "abcd", false},
		{"a\x00cd", "a\x00cd", false},
		{"a\x00\x00e", "abcd", false},
		{"a\x00", "abcd", false},
		{"", "", false},
		{"abcd", "a\x00cd", false},
	} {
		if got := zeroed(c.text, c.was); got != c.lost {
			t.Errorf("zeroed(%q, %q) is %v", c.text, c.was, got)
		}
	}
}
