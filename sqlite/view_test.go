package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// Every schema reads the same way, and reading leaves the file as it is.
func TestReadOtherSchemas(t *testing.T) {
	older, newer := fixtures(t)
	for _, name := range append(older, newer...) {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			before := hash(t, path)
			s := open(t, path, Options{ReadOnly: true})
			d := db(s)
			list, err := d.Sessions(t.Context(), sessiondb.ListFilter{Limit: -1, Children: true, Archived: true})
			if err != nil || len(list) < 80 {
				t.Fatalf("%d sessions, %v", len(list), err)
			}
			messages := 0
			for _, l := range list {
				ms, err := d.Messages(t.Context(), l.ID)
				if err != nil {
					t.Fatal(err)
				}
				messages += len(ms)
			}
			if messages < 700 {
				t.Errorf("%d messages", messages)
			}
			if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"}); !errors.Is(err, sessiondb.ErrReadOnly) {
				t.Errorf("write: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if hash(t, path) != before {
				t.Error("reading changed the file")
			}
		})
	}
}

func TestNewerSchemasAreNotWritten(t *testing.T) {
	_, newer := fixtures(t)
	if len(newer) < 8 {
		t.Fatalf("only %v", newer)
	}
	for _, name := range append(newer, "v11-version-99.db") {
		path := fixture.Copy(t, name)
		before := hash(t, path)
		s := open(t, path, Options{})
		d := db(s)
		if !d.Info().ReadOnly || d.Info().SchemaVersion <= SchemaVersion {
			t.Errorf("%s: %+v", name, d.Info())
		}
		_, err := d.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"})
		var schema *sessiondb.SchemaError
		if !errors.As(err, &schema) || schema.Have != d.Info().SchemaVersion || schema.Want != SchemaVersion {
			t.Errorf("%s: write: %v", name, err)
		}
		if err := compact(t, s); !errors.Is(err, sessiondb.ErrSchemaNewer) {
			t.Errorf("%s: compact: %v", name, err)
		}
		if n, err := d.SessionCount(t.Context(), ""); err != nil || n < 80 {
			t.Errorf("%s: %d sessions, %v", name, n, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if hash(t, path) != before {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// What a newer program rewound is not shown, and a prompt that it keeps apart
// is.
func TestNewerColumnsAreHonoured(t *testing.T) {
	path := fixture.Copy(t, "hermes-v25.db")
	c := raw(t, path)
	all := scalar[int64](t, c, "SELECT COUNT(*) FROM messages")
	run(t, c, "UPDATE messages SET active = 0 WHERE id % 3 = 0")
	hidden := scalar[int64](t, c, "SELECT COUNT(*) FROM messages WHERE active = 0")
	run(t, c, "INSERT INTO system_prompts (hash, prompt) VALUES ('h', 'be kind')")
	id := scalar[string](t, c, "SELECT MIN(id) FROM sessions")
	run(t, c, "UPDATE sessions SET system_prompt = NULL, system_prompt_hash = 'h' WHERE id = ?", id)
	_ = c.close()
	s := open(t, path, Options{})
	d := db(s)
	if n, err := d.MessageCount(t.Context(), ""); err != nil || n != all-hidden {
		t.Errorf("%d messages shown of %d with %d hidden, %v", n, all, hidden, err)
	}
	got, err := d.Session(t.Context(), id)
	if err != nil || got.SystemPrompt == nil || *got.SystemPrompt != "be kind" {
		t.Errorf("prompt %v, %v", got.SystemPrompt, err)
	}
	if !s.Info().Archived {
		t.Error("archived is not known")
	}
}

// Reading through a view uses the indexes of the table below.
func TestViewsUseIndexes(t *testing.T) {
	for _, name := range []string{"hermes-v1.db", "hermes-v25.db"} {
		s := open(t, fixture.Copy(t, name), Options{ReadOnly: true})
		c := s.readers.idle[0]
		for query, want := range map[string]string{
			"SELECT * FROM sessions WHERE id = 'x'":                                        "sqlite_autoindex_sessions_1",
			"SELECT * FROM sessions ORDER BY started_at DESC LIMIT 20":                     "idx_sessions_started",
			"SELECT * FROM sessions WHERE parent_session_id = 'x'":                         "idx_sessions_parent",
			"SELECT * FROM messages WHERE session_id = 'x' ORDER BY id":                    "idx_messages_session",
			"SELECT MAX(timestamp) FROM messages WHERE session_id = 'x'":                   "idx_messages_session",
			"SELECT * FROM messages WHERE id > 5 ORDER BY id LIMIT 10":                     "INTEGER PRIMARY KEY",
			"SELECT * FROM sessions s JOIN messages m ON m.session_id = s.id WHERE m.id=1": "INTEGER PRIMARY KEY",
		} {
			plan := strings.Join(dump(t, c, "EXPLAIN QUERY PLAN "+query), "\n")
			if !strings.Contains(plan, want) || strings.Contains(plan, "MATERIALIZE") {
				t.Errorf("%s: %s: does not use %s:\n%s", name, query, want, plan)
			}
		}
	}
}

// A column that a file lacks reads as its default.
func TestMissingColumnsReadAsDefault(t *testing.T) {
	s := open(t, fixture.Copy(t, "hermes-v1.db"), Options{ReadOnly: true})
	got := dump(t, s.readers.idle[0], "SELECT DISTINCT title, api_call_count, cost_status FROM sessions")
	if diff := cmp.Diff([]string{`[]driver.Value{driver.Value(nil), 0, driver.Value(nil)}`}, got); diff != "" {
		t.Error(diff)
	}
}
