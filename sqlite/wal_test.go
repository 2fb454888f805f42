package sqlite

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// TestLogIsBounded writes while a reader pins the log, which so has to grow:
// when the reader is done, the log shrinks with the next writes, and on Close
// at the latest, even if others have the file open.
func TestLogIsBounded(t *testing.T) {
	s := fresh(t)
	d := db(s)
	reader := raw(t, s.path)
	if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	say := func(n int) {
		t.Helper()
		for range n {
			if _, err := d.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Content: sessiondb.Text(strings.Repeat("word ", 1000))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	pin := func() {
		run(t, reader, "BEGIN")
		scalar[int64](t, reader, "SELECT COUNT(*) FROM messages")
	}
	pin()
	say(300)
	pinned := s.logBytes()
	if pinned <= walLimit {
		t.Fatalf("the log has only %d bytes", pinned)
	}
	run(t, reader, "COMMIT")
	say(60)
	if n := s.logBytes(); n > walLimit {
		t.Errorf("a log of %d bytes, of %d before the reader was done", n, pinned)
	}
	pin()
	say(300)
	run(t, reader, "COMMIT")
	if n := s.logBytes(); n <= walLimit {
		t.Fatalf("the log has only %d bytes", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := s.logBytes(); n > walLimit {
		t.Errorf("a log of %d bytes is left by Close", n)
	}
	if n := scalar[int64](t, reader, "SELECT COUNT(*) FROM messages"); n != 660 {
		t.Errorf("%d messages", n)
	}
}
