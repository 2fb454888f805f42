package sqlite

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// finding is the first finding of a code in a store, the zero value for none.
func finding(t *testing.T, path, code string) sessiondb.Finding {
	t.Helper()
	found, err := Check(t.Context(), path, sessiondb.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Code == code {
			return f
		}
	}
	return sessiondb.Finding{}
}

// A list of free pages that is counted wrongly is mended by compact; one that
// names what can be no page is not, and then recover is the next step.
func TestCheckFreeList(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(head, trunk []byte)
		works bool // compact
	}{
		{"counted too low", func(head, _ []byte) { head[39]-- }, true},
		{"forgotten", func(head, _ []byte) { clear(head[32:40]) }, true},
		{"a page that is not there", func(_, trunk []byte) { copy(trunk[8:], "\x7f\xff\xff\xff") }, false},
		{"garbled", func(_, trunk []byte) { copy(trunk, "\xff\xff\xff\xff\x00\x00\xff\xff") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := without(t, "DELETE FROM messages WHERE id > 100")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			trunk := (int(binary.BigEndian.Uint32(b[32:])) - 1) * page4096
			c.spoil(b[:headerSize], b[trunk:trunk+page4096])
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			f := finding(t, path, map[bool]string{true: "page_waste", false: "page_damage"}[c.works])
			if want := map[bool]string{true: "sessiondb compact ", false: "sessiondb recover "}[c.works]; !strings.HasPrefix(f.Fix, want) {
				t.Errorf("%q: %q", f.What, f.Fix)
			}
			_, report := recovered(t, path)
			if n := report.Table("messages").Rows; n != 100 {
				t.Errorf("%d messages", n)
			}
			db, err := Open(t.Context(), path, Options{})
			if err == nil {
				defer func() { _ = db.Close() }()
				err = db.Vacuum(t.Context())
			}
			if works := err == nil; works != c.works || !works && !errors.Is(err, sessiondb.ErrCorrupt) {
				t.Errorf("compact: %v", err)
			}
		})
	}
}

// Where the messages are gone and something tells of them, nothing that a repair
// could do would bring them back: it says recover.
func TestCheckMessagesGone(t *testing.T) {
	for _, script := range []string{
		"DROP TABLE messages",
		"DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; DROP TABLE messages",
	} {
		path := without(t, script)
		if f := finding(t, path, "table_lost"); !strings.HasPrefix(f.Fix, "sessiondb recover ") || f.Severity != sessiondb.SeverityError {
			t.Errorf("after %s: %+v", script, f)
		}
		if f := finding(t, path, "object_missing"); f.Code != "" {
			t.Errorf("after %s: %+v", script, f)
		}
	}
	if f := finding(t, without(t, "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; DROP TABLE messages; DELETE FROM sessions"), "table_lost"); f.Code != "" {
		t.Errorf("no message was there: %+v", f)
	}
}

// A session without an id, and a row of another program that points at nothing,
// are told of and want nothing done.
func TestCheckOthersBusiness(t *testing.T) {
	for script, code := range map[string]string{
		"INSERT INTO sessions (id, source, started_at, parent_session_id, title) VALUES (NULL, 'cli', 1, 'gone', 'T'), (NULL, 'cli', 2, NULL, NULL)": "odd_values",
		"CREATE TABLE theirs (id INTEGER PRIMARY KEY, session REFERENCES sessions (id)); INSERT INTO theirs VALUES (1, 'gone')":                      "foreign_keys",
	} {
		path := without(t, script)
		nothingWrong(t, path)
		if f := finding(t, path, code); f.Severity != sessiondb.SeverityInfo {
			t.Errorf("%s: %+v", script, f)
		}
		_, report := recovered(t, path)
		if !report.Complete() {
			t.Errorf("%s: %+v", script, report)
		}
	}
}
