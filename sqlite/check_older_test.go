package sqlite

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// olderWriter is a program that stores structured content with a SQLite of its
// own. It says nothing where that finds trigrams behind a NUL too.
const olderWriter = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', ?, 1778000000.0)",
    ('\0json:[{"type":"text","text":"an older program says rhubarb"}]',))
c.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = 's'")
if sqlite3.sqlite_version_info < (3, 46):
    print("older")
`

// TestIndexOfTwoReleases lets two releases of SQLite fill an index by turns, as
// every store has it that another program uses too. That is no damage, for nobody
// who judges.
func TestIndexOfTwoReleases(t *testing.T) {
	s := fresh(t)
	if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	parts := sessiondb.Structured(json.RawMessage(`[{"type":"text","text":"this program says asparagus"}]`))
	for range 2 {
		if _, err := db(s).AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: parts}); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", "-c", olderWriter, s.path).CombinedOutput()
		if err != nil || string(out) != "older\n" {
			t.Skipf("no program with an older SQLite: %s %v", out, err)
		}
	}
	if got := codes(examine(t, s.path)); got != older {
		t.Errorf("found %s", got)
	}
	b, err := s.Verify(t.Context())
	if err != nil || b.Findings != nil {
		t.Errorf("verified: %v, %v", b.Findings, err)
	}
	c := raw(t, s.path)
	run(t, c, "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'plain', 1778000000.0)")
	run(t, c, "UPDATE messages_fts_trigram_content SET c0 = 'what it never held' WHERE id = (SELECT MAX(id) FROM messages)")
	if got := codes(examine(t, s.path)); !strings.Contains(got, "index_damage") || strings.Contains(got, older) {
		t.Errorf("damage counts as old: %s", got)
	}
}
