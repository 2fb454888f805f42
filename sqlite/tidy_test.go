package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// A reader leaves no log behind, but that of others.
func TestReadingLeavesNoFiles(t *testing.T) {
	for _, name := range []string{"hermes-v1.db", "hermes-v11.db", "hermes-v17.db"} {
		path := fixture.Copy(t, name)
		before := neighbours(t, path)
		sum := hash(t, path)
		s := open(t, path, Options{ReadOnly: true})
		if _, err := db(s).SessionCount(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if after := neighbours(t, path); !slices.Equal(before, after) {
			t.Errorf("%s: %q became %q", name, before, after)
		}
		if hash(t, path) != sum {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestReadingLeavesTheLogOfOthers(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	s := open(t, path, Options{ReadOnly: true})
	other := raw(t, path)
	if _, err := other.exec(t.Context(), "UPDATE sessions SET model = 'new' WHERE id = 'fill_15_0d'"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !fileHolds(path + "-wal") {
		t.Error("the log is gone")
	}
	if got := dump(t, raw(t, path), "SELECT id FROM sessions WHERE model = 'new'"); len(got) != 1 {
		t.Errorf("what the other program wrote is gone: %q", got)
	}
}

// A database without tables that bears the mark of a program is that program's.
func TestMarkedDatabaseIsNoStore(t *testing.T) {
	for _, pragma := range []string{"application_id", "user_version"} {
		path := filepath.Join(t.TempDir(), "other.db")
		c, err := openConn(t.Context(), path, access{mode: "rwc"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.script(t.Context(), "PRAGMA "+pragma+" = 7"); err != nil {
			t.Fatal(err)
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		sum := hash(t, path)
		for _, readOnly := range []bool{true, false} {
			if _, err := Open(t.Context(), path, Options{ReadOnly: readOnly}); !errors.Is(err, sessiondb.ErrNotStore) {
				t.Errorf("%s: %v", pragma, err)
			}
		}
		if hash(t, path) != sum || len(neighbours(t, path)) > 1 {
			t.Errorf("%s: it was touched", pragma)
		}
	}
}

// What can't be made leaves nothing.
func TestStoreThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "link.db")
	if err := os.Symlink(filepath.Join(dir, "nowhere", "state.db"), path); err != nil {
		t.Skip(err)
	}
	if _, err := Open(t.Context(), path, Options{}); err == nil {
		t.Error("it was made")
	}
	if got := neighbours(t, path); !slices.Equal(got, []string{""}) {
		t.Errorf("%q is left", got)
	}
}
