package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestExternalHeals loses parts of indexes without a copy of the text, and
// changes messages meanwhile: the next open for writing makes the indexes right
// again, in the same layout.
func TestExternalHeals(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for name, loss := range map[string][]string{
		"no triggers":     {"DROP TRIGGER messages_fts_delete", "DROP TRIGGER messages_fts_trigram_update"},
		"another trigger": {"DROP TRIGGER messages_fts_delete", find("messages_fts_delete").sql},
		"no view":         {"DROP VIEW sessiondb_indexed_text", "DROP TRIGGER messages_fts_delete", "DROP TRIGGER messages_fts_trigram_delete"},
		"another view": {"DROP VIEW sessiondb_indexed_text",
			"CREATE VIEW sessiondb_indexed_text AS SELECT id, content FROM messages"},
		"no index": {"DROP TABLE messages_fts", "DROP TRIGGER messages_fts_insert", "DROP TRIGGER messages_fts_delete", "DROP TRIGGER messages_fts_update"},
		"no indexes": {"DROP TABLE messages_fts", "DROP TABLE messages_fts_trigram", "DROP TRIGGER messages_fts_insert",
			"DROP TRIGGER messages_fts_delete", "DROP TRIGGER messages_fts_update", "DROP TRIGGER messages_fts_trigram_insert",
			"DROP TRIGGER messages_fts_trigram_delete", "DROP TRIGGER messages_fts_trigram_update"},
		"no version": {"DELETE FROM schema_version"},
	} {
		path := fixture.Copy(t, "hermes-v11.db")
		relaid(t, path, engine.External)
		want := schemaOf(t, path)
		c := raw(t, path)
		for _, l := range loss {
			run(t, c, l)
		}
		if name != "another trigger" && name != "another view" {
			run(t, c, "DELETE FROM messages WHERE id % 10 = 3")
			run(t, c, "UPDATE messages SET content = 'ibex' WHERE id % 10 = 4")
		}
		s := open(t, path, Options{})
		if got := schemaOf(t, path); !slices.Equal(got, want) {
			t.Errorf("%s: schema %v", name, got)
		}
		if err := compact(t, s); err != nil { // one trigger alone may miss a change
			t.Errorf("%s: %v", name, err)
		}
		t.Log(name)
		sound(t, path, indexes...)
	}
}

// TestExternalDamage damages indexes without a copy of the text: messages are
// stored and found all the same, and compact makes the index anew.
func TestExternalDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, damage := range []string{
		"UPDATE messages_fts_data SET block = x'00'",
		"UPDATE messages_fts_trigram_data SET block = x'ff00ff'",
		"DELETE FROM messages_fts_docsize",
	} {
		path := fixture.Copy(t, "hermes-v11.db")
		relaid(t, path, engine.External)
		run(t, raw(t, path), damage)
		s := open(t, path, Options{})
		d := db(s)
		id, err := d.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("quokka")}); err != nil {
			t.Errorf("%s: %v", damage, err)
		}
		found, err := d.Search(t.Context(), sessiondb.SearchQuery{Text: "quokka"})
		if err != nil || len(found.Hits) != 1 {
			t.Errorf("%s: found %d times, %v", damage, len(found.Hits), err)
		}
		if err := compact(t, s); err != nil {
			t.Errorf("%s: compact: %v", damage, err)
		}
		if s, err := readShape(t.Context(), raw(t, path)); err != nil || s.layout() != external {
			t.Errorf("%s: layout %v, %v", damage, s.layout().name, err)
		}
		sound(t, path, indexes...)
	}
}

// TestCompactMendsLies changes messages while the triggers are off: compact
// sees that the indexes say something else, in both layouts.
func TestCompactMendsLies(t *testing.T) {
	for _, l := range []engine.Layout{engine.Inline, engine.External} {
		path := fixture.Copy(t, "hermes-v11.db")
		relaid(t, path, l)
		want := schemaOf(t, path)
		c := raw(t, path)
		for _, index := range indexes {
			run(t, c, "DROP TRIGGER "+index+"_update")
		}
		run(t, c, "UPDATE messages SET content = 'ibex' WHERE id = 7")
		for _, index := range indexes {
			run(t, c, layoutNamed(t, l).find(index+"_update").sql)
		}
		if done := relaid(t, path, ""); !done.Rebuilt {
			t.Errorf("%s: %+v", l, done)
		}
		if got := schemaOf(t, path); !slices.Equal(got, want) {
			t.Errorf("%s: schema %v", l, got)
		}
		if n := scalar[int64](t, c, "SELECT COUNT(*) FROM messages_fts WHERE messages_fts MATCH 'ibex'"); n != 1 {
			t.Errorf("%s: found %d times", l, n)
		}
		sound(t, path, indexes...)
	}
}

// TestLayoutAmongStrangers refuses to take the copy of the text away from
// programs that may use it.
func TestLayoutAmongStrangers(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	s := open(t, path, Options{})
	run(t, raw(t, path), "CREATE TRIGGER mine AFTER DELETE ON sessions BEGIN DELETE FROM messages_fts WHERE rowid = 1; END")
	_, err := s.Compact(t.Context(), engine.CompactOptions{Layout: engine.External})
	if err == nil || !strings.Contains(err.Error(), "trigger mine") {
		t.Errorf("error %v", err)
	}
	if _, err := s.Compact(t.Context(), engine.CompactOptions{Layout: engine.Inline}); err != nil {
		t.Error(err)
	}
	if _, err := s.Compact(t.Context(), engine.CompactOptions{Layout: "flat"}); err == nil {
		t.Error("an unknown layout")
	}
}

func layoutNamed(t *testing.T, name engine.Layout) *layout {
	t.Helper()
	for _, l := range []*layout{inline, external} {
		if l.name == name {
			return l
		}
	}
	t.Fatal(name)
	return nil
}
