package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestMatchesMessages changes messages behind the back of indexes without a
// copy of the text.
func TestMatchesMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	sound := fixture.Copy(t, "hermes-v11.db")
	relaid(t, sound, engine.External)
	for name, change := range map[string]string{
		"nothing":         "SELECT 1",
		"one word":        "UPDATE messages SET content = 'ibex' WHERE id = 7",
		"two exchanged":   "UPDATE messages SET content = (SELECT content FROM messages WHERE id = 19 - messages.id) WHERE id IN (9, 10)",
		"one gone":        "DELETE FROM messages WHERE id = 7",
		"one more":        "INSERT INTO messages (session_id, role, content, timestamp) SELECT session_id, role, 'ibex', timestamp FROM messages WHERE id = 7",
		"another's tools": "UPDATE messages SET tool_name = 'ibex' WHERE id = 7",
	} {
		path := newPath(t)
		run(t, raw(t, sound), "VACUUM INTO ?", path)
		c := raw(t, path)
		for _, index := range indexes {
			for _, trigger := range triggersOf(index) {
				run(t, c, "DROP TRIGGER "+trigger)
			}
		}
		if rows := dump(t, c, change); name == "nothing" && len(rows) != 1 {
			t.Fatal(rows)
		}
		for _, index := range indexes {
			same, err := matchesMessages(t.Context(), c, index)
			if err != nil || same != (name == "nothing") {
				t.Errorf("%s: %s is the same: %v, %v", name, index, same, err)
			}
		}
	}
}

// TestCheckExternal finds nothing in a sound store without copies of the text,
// and a message that was changed behind its back in a full check.
func TestCheckExternal(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	path := fixture.Copy(t, "hermes-v11.db")
	relaid(t, path, engine.External)
	s := open(t, path, Options{ReadOnly: true})
	indexFindings := func() (codes []string) {
		t.Helper()
		found, err := s.Check(t.Context(), engine.CheckOptions{Full: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if strings.Contains(f.What, "messages_fts") {
				codes = append(codes, f.Code)
			}
		}
		return codes
	}
	if codes := indexFindings(); codes != nil {
		t.Errorf("sound: %v", codes)
	}
	c := raw(t, path)
	run(t, c, "DROP TRIGGER messages_fts_update")
	run(t, c, "UPDATE messages SET content = 'ibex' WHERE id = 7")
	run(t, c, external.find("messages_fts_update").sql)
	if codes := indexFindings(); !slices.Equal(codes, []string{"index_text"}) {
		t.Errorf("one index lies: %v", codes)
	}
}
