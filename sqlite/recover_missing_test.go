package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// without is a copy of the main fixture after a script that took something away.
func without(t *testing.T, script string) string {
	t.Helper()
	path := fixture.Copy(t, "hermes-v11.db")
	c := raw(t, path)
	if err := c.script(t.Context(), "PRAGMA foreign_keys = OFF; "+script); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table that was dropped costs what only it held: the indexes still have the
// text of each message, and messages still name their sessions.
func TestRecoverMissingTable(t *testing.T) {
	dropIndexes := "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; "
	for _, c := range []struct {
		name, script       string
		sessions, messages int64
		rebuilt            int64
		text               string // of message 314
		session            string
	}{
		{"messages", "DROP TABLE messages", 94, 840, 840, "docker tool token without downtime", lostSession},
		{"sessions", "DROP TABLE sessions", 62, 840, 0, "docker tool token without downtime", "20260420_165320_long01"},
		{"both", "DROP TABLE messages; DROP TABLE sessions", 1, 840, 840, "docker tool token without downtime", lostSession},
		{"messages and indexes", dropIndexes + "DROP TABLE messages", 93, 0, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst, report := recovered(t, without(t, c.script))
			s, m := report.Table("sessions"), report.Table("messages")
			if s.Rows != c.sessions || m.Rows != c.messages || m.Rebuilt != c.rebuilt || report.Complete() {
				t.Errorf("sessions %+v, messages %+v, complete %v", s, m, report.Complete())
			}
			if !strings.Contains(strings.Join(report.Notes, "\n"), "was missing") {
				t.Errorf("notes %q", report.Notes)
			}
			if c.text == "" {
				return
			}
			var text, session string
			if err := raw(t, dst).queryRow(t.Context(), []any{&text, &session}, "SELECT content, session_id FROM messages WHERE id = 314"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, c.text) || session != c.session {
				t.Errorf("message 314 of %q: %q", session, text)
			}
		})
	}
}

// A database with neither table, and no index with text, is none of ours.
func TestRecoverNothingOfOurs(t *testing.T) {
	src := without(t, "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; DROP TABLE messages; DROP TABLE sessions")
	_, err := Recover(t.Context(), src, filepath.Join(t.TempDir(), "new.db"), RecoverOptions{})
	if !errors.Is(err, sessiondb.ErrNotStore) {
		t.Errorf("%v", err)
	}
}

// A log whose database is gone gives back the pages that it holds.
func TestRecoverLogAlone(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	c := raw(t, path)
	if err := c.script(t.Context(), "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; VACUUM"); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "state.db")
	log, err := os.ReadFile(path + "-wal")
	if err == nil {
		err = os.WriteFile(alone+"-wal", log, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := Check(t.Context(), alone, sessiondb.CheckOptions{})
	if err != nil || len(found) != 1 || found[0].Code != "log_alone" || !strings.HasPrefix(found[0].Fix, "sessiondb recover ") {
		t.Errorf("%v, %v", found, err)
	}
	_, report := recovered(t, alone)
	if n := report.Table("messages").Rows; n != 840 || !report.Complete() {
		t.Errorf("%d messages, %+v", n, report)
	}
	if exists(alone) {
		t.Error("it made the file that is missing")
	}
}

// What is too short says so.
func TestRecoverTooShort(t *testing.T) {
	whole, err := os.ReadFile(fixture.Copy(t, "hermes-v11.db"))
	if err != nil {
		t.Fatal(err)
	}
	for size, why := range map[int]string{0: "0 bytes", 50: "50 bytes, less than", page4096: "623 of its 624 pages are missing"} {
		src := filepath.Join(t.TempDir(), "short.db")
		if err := os.WriteFile(src, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Recover(t.Context(), src, src+".new", RecoverOptions{})
		if !errors.Is(err, sessiondb.ErrNotStore) || !strings.Contains(err.Error(), why) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// failing fails the first reads.
type failing struct {
	io.ReaderAt
	left int
}

func (f *failing) ReadAt(buf []byte, at int64) (int, error) {
	if f.left--; f.left >= 0 {
		n, _ := f.ReaderAt.ReadAt(buf[:len(buf)/2], at)
		return n, syscall.EIO
	}
	return f.ReaderAt.ReadAt(buf, at)
}

// A read that fails once is done again; one that fails for good is counted, and
// not taken for damage.
func TestPatientRead(t *testing.T) {
	const text = "0123456789abcdef"
	for failures, want := range map[int]error{0: nil, 1: nil, readTries - 1: nil, readTries: syscall.EIO} {
		var m misreads
		p := patient{&failing{strings.NewReader(text), failures}, &m}
		buf := make([]byte, len(text))
		n, err := p.ReadAt(buf, 0)
		if !errors.Is(err, want) || !errors.Is(m.err, want) || want == nil && string(buf[:n]) != text {
			t.Errorf("%d failures: %q, %v, %v", failures, buf[:n], err, m.err)
		}
	}
}
