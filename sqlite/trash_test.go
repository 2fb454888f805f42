package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Columns that other programs add, before the trash is made and after, come back
// with what is in them, of whatever type it is.
func TestTrashKeepsUnknownColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Content: sessiondb.Text("hello")}); err != nil {
		t.Fatal(err)
	}
	const both = "SELECT * FROM sessions s JOIN messages m ON m.session_id = s.id"
	for _, change := range []string{
		`ALTER TABLE sessions ADD COLUMN "a ""b" TEXT; UPDATE sessions SET "a ""b" = x'00ff'`,
		`ALTER TABLE messages ADD COLUMN later; UPDATE messages SET later = 1.5`,
		`ALTER TABLE messages ADD COLUMN twice AS (id * 2); ALTER TABLE sessions ADD COLUMN n INTEGER NOT NULL DEFAULT 7; UPDATE sessions SET n = 'text'`,
	} {
		c := raw(t, path)
		run(t, c, change)
		before := dump(t, c, both)
		if _, err := db.DeleteSession(t.Context(), "a", sessiondb.DeleteOptions{Trash: true}); err != nil {
			t.Fatal(err)
		}
		e, err := db.FindTrashed(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.RestoreTrashed(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, c, both); !slices.Equal(after, before) || len(after) != 1 {
			t.Errorf("%s: is %q, was %q", change, after, before)
		}
	}
}
