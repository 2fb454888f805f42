package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// longStore is a store in which message 2 overflows to many pages, in a layout
// whose index holds no copy of its text if noText is set.
func longStore(t *testing.T, noText bool) (path, content string) {
	t.Helper()
	path = newPath(t)
	s := open(t, path, Options{})
	content = strings.Repeat("배포 deploy capybara ", 3000)
	run(t, s.w, "INSERT INTO sessions (id, source, started_at, message_count) VALUES ('s', 'cli', 10, 3)")
	run(t, s.w, "INSERT INTO messages (session_id, role, content, tool_name, timestamp) VALUES ('s', 'user', 'one', NULL, 11), ('s', 'tool', ?, 'grep', 12), ('s', 'user', 'three', NULL, 13)", content)
	if noText {
		for _, index := range indexes {
			run(t, s.w, "UPDATE "+index+"_content SET c0 = 'x' WHERE id = 2")
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, content
}

// hitText zeroes the n-th page of the file on which a text of the long message
// stands that goes on from the page before. The pages of a new store lie in
// order: those of the message come first.
func hitText(t *testing.T, path string, n int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for p := page4096; p < len(b); p += page4096 {
		if b[p] == 0 && strings.Contains(string(b[p:p+page4096]), "deploy capybara") {
			if n--; n == 0 {
				clear(b[p : p+page4096])
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	t.Fatal("no such page")
}

// A message whose overflow is damaged is kept as far as it goes, and completed
// from the index where that holds its text.
func TestRecoverCutMessage(t *testing.T) {
	for _, noText := range []bool{true, false} {
		src, content := longStore(t, noText)
		hitText(t, src, 5)
		dst, report := recovered(t, src)
		c := raw(t, dst)
		var session, role, text string
		var name *string
		var at float64
		if err := c.queryRow(t.Context(), []any{&session, &role, &text, &name, &at}, "SELECT session_id, role, content, tool_name, timestamp FROM messages WHERE id = 2"); err != nil {
			t.Fatal(err)
		}
		if session != "s" || role != "tool" || at != 12 {
			t.Errorf("session %q, role %q, time %v", session, role, at)
		}
		switch m := report.Table("messages"); {
		case m.Rows != 3 || m.Cut != 1 || m.Lost != 0 || report.Complete():
			t.Errorf("%+v", m)
		case noText && (len(text) < 3*page4096 || len(text) > 6*page4096 || !strings.HasPrefix(content, text)):
			t.Errorf("%d bytes of %d are left, as %.50q", len(text), len(content), text)
		case !noText && (text != content || name == nil || *name != "grep"):
			t.Errorf("%d bytes of %d from the index, tool %v", len(text), len(content), name)
		}
	}
}

// Recover ends when its context does, and leaves nothing behind.
func TestRecoverInterrupted(t *testing.T) {
	src, _ := longStore(t, false)
	for steps := 0; ; steps++ {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		left := steps
		_, err := Recover(ctx, src, filepath.Join(dir, "new.db"), RecoverOptions{Progress: func(string, int64, int64) {
			if left--; left < 0 {
				cancel()
			}
		}})
		cancel()
		entries, _ := os.ReadDir(dir)
		if err == nil {
			if steps < 3 || len(entries) != 1 {
				t.Errorf("not interrupted after %d steps, and %v is there", steps, entries)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || len(entries) > 0 {
			t.Errorf("after %d steps: %v, and %v is left", steps, err, entries)
		}
	}
}

// What another program writes meanwhile may be torn, which is told.
func TestRecoverWhileWritten(t *testing.T) {
	src, _ := longStore(t, false)
	_, report := recovered(t, src)
	if report.Changed || !report.Complete() {
		t.Errorf("nobody wrote, and yet: %+v", report)
	}
	report, err := Recover(t.Context(), src, newPath(t), RecoverOptions{Progress: func(string, int64, int64) {
		if err := os.WriteFile(src+"-wal", []byte("another program"), 0o600); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || !report.Changed || report.Complete() {
		t.Errorf("%+v, %v", report, err)
	}
}

// Messages of a page that is overwritten come back from the indexes with their
// session, time and text; and their role where the text tells.
func TestRecoverRebuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	dst, _ := recovered(t, fixture.Copy(t, "v11-badpage-messages.db"))
	const texts = `SELECT id, session_id, timestamp, COALESCE(content, ''), COALESCE(tool_name, ''), COALESCE(tool_calls, '') FROM messages ORDER BY id`
	before, after := raw(t, fixture.Copy(t, "hermes-v11.db")), raw(t, dst)
	if diff := cmp.Diff(dump(t, before, texts), dump(t, after, texts)); diff != "" {
		t.Errorf("before (-), recovered (+):\n%s", diff)
	}
	const roles = "SELECT id, role FROM messages WHERE role <> 'unknown'"
	was := dump(t, before, roles)
	known := dump(t, after, roles)
	for _, role := range known {
		if !slices.Contains(was, role) {
			t.Errorf("made up: %s", role)
		}
	}
	if n := scalar[int64](t, after, "SELECT COUNT(*) FROM messages WHERE role = 'unknown'"); n == 0 || n > 19 {
		t.Errorf("%d of 19 roles are not known", n)
	}
}
