package sqlite

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestSpaceNamesEveryPart adds a table of another program and one of ours, and
// deletes messages: each is told apart.
func TestSpaceNamesEveryPart(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	c := raw(t, path)
	run(t, c, "CREATE TABLE gateway_state (k, v)")
	run(t, c, "CREATE TABLE sessiondb_extra (k)")
	run(t, c, "DELETE FROM messages WHERE id > 100")
	s := open(t, path, Options{ReadOnly: true})
	space, err := db(s).Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]int64{}
	for _, p := range space.Parts {
		parts[strings.TrimSuffix(p.Kind+" "+p.Name, " ")] = p.Bytes
	}
	for _, want := range []string{
		"table messages", "table sessions", "copy messages_fts", "postings messages_fts", "lengths messages_fts",
		"copy messages_fts_trigram", "postings messages_fts_trigram", "index idx_messages_session",
		"other gateway_state", "own sessiondb_extra", "free",
	} {
		if parts[want] <= 0 {
			t.Errorf("no %s in %v", want, parts)
		}
	}
	if space.Free != parts["free"] {
		t.Errorf("%+v", space)
	}
}

// TestSpaceOfOtherVersions measures files of every schema.
func TestSpaceOfOtherVersions(t *testing.T) {
	for _, name := range []string{"hermes-v1.db", "hermes-v10.db", "hermes-v23.db", "hermes-v25.db"} {
		s := open(t, fixture.Copy(t, name), Options{ReadOnly: true})
		space, err := db(s).Space(t.Context())
		if err != nil || space.Content == 0 || space.File == 0 {
			t.Errorf("%s: %+v, %v", name, space, err)
		}
	}
}
