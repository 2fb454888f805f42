package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/enginetest"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestEngineExternal holds a store whose indexes have no copy of the text to
// the whole suite.
func TestEngineExternal(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	enginetest.Run(t, func(t *testing.T, o enginetest.Options) *sessiondb.DB {
		db, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Compact(t.Context(), sessiondb.CompactOptions{Layout: sessiondb.ExternalIndexes}); err != nil {
			t.Fatal(err)
		}
		return db
	})
}

// relaid lays the indexes of a file out and returns what Compact did.
func relaid(t *testing.T, path string, l engine.Layout) engine.Compacted {
	t.Helper()
	s := open(t, path, Options{})
	done, err := s.Compact(t.Context(), engine.CompactOptions{Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// schemaOf is every object of a file.
func schemaOf(t *testing.T, path string) []string {
	t.Helper()
	return dump(t, raw(t, path), "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
}

// TestLayoutThereAndBack lays the indexes out without a copy of the text and
// with one again: rows, schema and indexes are as before, and nothing heals in
// between.
func TestLayoutThereAndBack(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	if err := compact(t, open(t, path, Options{})); err != nil { // what is ours is made
		t.Fatal(err)
	}
	schema, rows := schemaOf(t, path), dump(t, raw(t, path), "SELECT * FROM messages ORDER BY id")
	size := fileSize(t, path)
	if done := relaid(t, path, engine.External); !done.Rebuilt {
		t.Errorf("done: %+v", done)
	}
	if now := fileSize(t, path); now*10 > size*7 {
		t.Errorf("%d bytes before, %d now", size, now)
	}
	laid := schemaOf(t, path)
	if slices.Equal(laid, schema) {
		t.Error("the schema is as before")
	}
	s := open(t, path, Options{})
	if err := db(s).SetMeta(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(laid, schemaOf(t, path)); diff != "" {
		t.Errorf("changed by an open for writing:\n%s", diff)
	}
	sound(t, path, indexes...)
	if done := relaid(t, path, engine.External); done.Rebuilt {
		t.Errorf("once more: %+v", done)
	}
	if done := relaid(t, path, engine.Inline); !done.Rebuilt {
		t.Errorf("back: %+v", done)
	}
	if diff := cmp.Diff(schema, schemaOf(t, path)); diff != "" {
		t.Errorf("schema:\n%s", diff)
	}
	if diff := cmp.Diff(rows, dump(t, raw(t, path), "SELECT * FROM messages ORDER BY id")); diff != "" {
		t.Errorf("messages:\n%s", diff)
	}
	sound(t, path, indexes...)
}

// TestCompactRebuildsOlderTrigrams compacts a store whose trigrams an older
// release of SQLite made, which ended them at a NUL: newer ones call that
// malformed. No message is lost, and the index is made anew.
func TestCompactRebuildsOlderTrigrams(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	if done := relaid(t, path, ""); !done.Rebuilt || !done.Older {
		t.Errorf("done: %+v", done)
	}
	consistent(t, path)
	if done := relaid(t, path, ""); done.Rebuilt {
		t.Errorf("once more: %+v", done)
	}
}
