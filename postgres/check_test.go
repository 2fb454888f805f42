package postgres

import (
	"slices"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// What is missing, and what does not fit, is found, and mended.
func TestCheckFinds(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	session(t, db, "s")
	say(t, db, "s", "a zebra")
	say(t, db, "s", "a lion")
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	codes := func() (out []string) {
		found, err := db.Check(t.Context(), sessiondb.CheckOptions{Full: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Fix == "" {
				t.Errorf("nothing mends %+v", f)
			}
			out = append(out, f.Code)
		}
		return out
	}
	c := raw(t, dsn)
	for name, broken := range map[string]struct {
		sql  string
		code string
	}{
		"an index":               {`DROP INDEX sessiondb_terms_words`, "object_missing"},
		"an ordinary index":      {`DROP INDEX idx_sessions_parent`, "object_missing"},
		"a table":                {`DROP TABLE sessiondb_orphans`, "object_missing"},
		"a trigger":              {`DROP TRIGGER sessiondb_message_said ON messages`, "trigger_missing"},
		"a trigger that rests":   {`ALTER TABLE messages DISABLE TRIGGER sessiondb_message_id`, "trigger_missing"},
		"no version":             {`DELETE FROM schema_version`, "version_missing"},
		"two versions":           {`INSERT INTO schema_version VALUES (11)`, "version_several"},
		"terms that are missing": {`DELETE FROM sessiondb_terms WHERE message_id = 1`, "index_rows"},
		"terms of another text":  {`UPDATE sessiondb_terms SET words = 'x:1' WHERE message_id = 2`, "index_text"},
		"a part too many":        {`INSERT INTO sessiondb_terms SELECT message_id, 1, words, grams FROM sessiondb_terms WHERE message_id = 1`, "index_text"},
		"an index that is half made": {`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sessiondb_terms_grams'::regclass`,
			"object_missing"},
		"a circle of parents": {`UPDATE sessions SET parent_session_id = id`, "parent_cycle"},
		"wrong counters":      {`UPDATE sessions SET message_count = 7`, "counters"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Exec(t.Context(), broken.sql); sqlState(err) == insufficientRights {
				t.Skip(err) // only the owner of the server may
			} else if err != nil {
				t.Fatal(err)
			}
			if got := codes(); !slices.Equal(got, []string{broken.code}) {
				t.Errorf("found %q", got)
			}
			done, err := db.Repair(t.Context(), sessiondb.RepairOptions{Full: true})
			if err != nil || len(done) != 1 || done[0].Code != broken.code {
				t.Errorf("repaired %+v, %v", done, err)
			}
			if got := codes(); got != nil {
				t.Errorf("left: %q", got)
			}
		})
	}
	if _, err := c.Exec(t.Context(), `DROP TABLE sessiondb_unindexed`); err != nil {
		t.Fatal(err)
	}
	if got := codes(); !slices.Contains(got, "object_missing") || !slices.Contains(got, "check_waits") {
		t.Errorf("found %q", got)
	}
	if _, err := db.Repair(t.Context(), sessiondb.RepairOptions{}); err != nil {
		t.Error(err)
	}
	say(t, db, "s", "a zebra again")
	if n := hits(t, db, sessiondb.SearchQuery{Text: "zebra"}); n != 2 {
		t.Errorf("%d hits", n)
	}
}
