package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// hostile are statements that other programs, or damage, may have run on a
// store. None of them may hide a session that is all right.
var hostile = map[string]string{
	"id NULL":              `INSERT INTO sessions (id, source, started_at, title) VALUES (NULL, 'cli', 1, 'null')`,
	"id blob":              `INSERT INTO sessions (id, source, started_at) VALUES (x'ff00', 'cli', 1777999999)`,
	"id empty":             `INSERT INTO sessions (id, source, started_at) VALUES ('', 'cli', 1777999999)`,
	"id with NUL":          `INSERT INTO sessions (id, source, started_at) VALUES (CAST(x'610062' AS TEXT), 'cli', 1777999999)`,
	"id not UTF-8":         `INSERT INTO sessions (id, source, started_at) VALUES (CAST(x'61ff62' AS TEXT), 'cli', 1777999999)`,
	"start text":           `UPDATE sessions SET started_at = '2026-04-09T12:00:00' WHERE id = 'victim'`,
	"start word":           `UPDATE sessions SET started_at = 'yesterday' WHERE id = 'victim'`,
	"start blob":           `UPDATE sessions SET started_at = x'00ff' WHERE id = 'victim'`,
	"start huge":           `UPDATE sessions SET started_at = 1e300 WHERE id = 'victim'`,
	"start infinite":       `UPDATE sessions SET started_at = 9e999 WHERE id = 'victim'`,
	"start long ago":       `UPDATE sessions SET started_at = -9e999 WHERE id = 'victim'`,
	"end text":             `UPDATE sessions SET ended_at = 'later', end_reason = x'01' WHERE id = 'victim'`,
	"source blob":          `UPDATE sessions SET source = x'ff' WHERE id = 'victim'`,
	"source number":        `UPDATE sessions SET source = 5, model = 7.5, title = x'ff' WHERE id = 'victim'`,
	"counters text":        `UPDATE sessions SET message_count = 'many', tool_call_count = NULL, input_tokens = 'x', output_tokens = 9e999, api_call_count = x'00' WHERE id = 'victim'`,
	"counters overflow":    `UPDATE sessions SET input_tokens = 9223372036854775807, output_tokens = 9223372036854775807`,
	"cost infinite":        `UPDATE sessions SET estimated_cost_usd = 9e999, actual_cost_usd = 'much' WHERE id = 'victim'`,
	"timestamp text":       `UPDATE messages SET timestamp = '2026-04-09 12:00:00' WHERE session_id = 'victim'`,
	"timestamp blob":       `UPDATE messages SET timestamp = x'00' WHERE session_id = 'victim'`,
	"timestamp huge":       `UPDATE messages SET timestamp = 9e999 WHERE session_id = 'victim'`,
	"message of number":    `UPDATE messages SET content = 5, role = 6, tool_name = x'ff', tool_calls = 7, token_count = 'x' WHERE session_id = 'victim'`,
	"message of blob":      `UPDATE messages SET content = x'ff00fe', role = x'ff' WHERE session_id = 'victim'`,
	"message of nobody":    `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('nobody', 'user', 'quokka', 1777999999)`,
	"parent self":          `UPDATE sessions SET parent_session_id = 'victim', end_reason = 'compression', ended_at = started_at WHERE id = 'victim'`,
	"parent gone":          `UPDATE sessions SET parent_session_id = 'nobody' WHERE id = 'victim'`,
	"parent number":        `UPDATE sessions SET parent_session_id = 5 WHERE id = 'victim'`,
	"parent blob":          `UPDATE sessions SET parent_session_id = x'ff' WHERE id = 'victim'`,
	"parent empty":         `UPDATE sessions SET parent_session_id = '' WHERE id = 'victim'`,
	"cycle":                `UPDATE sessions SET end_reason = 'compression', ended_at = started_at, parent_session_id = CASE id WHEN 'x' THEN 'y' ELSE 'x' END WHERE id IN ('x', 'y')`,
	"cycle with a tail":    `UPDATE sessions SET end_reason = 'compression', ended_at = started_at, parent_session_id = CASE id WHEN 'x' THEN 'y' WHEN 'y' THEN 'x' ELSE 'y' END WHERE id IN ('x', 'y', 'victim')`,
	"cycle of delegates":   `UPDATE sessions SET parent_session_id = CASE id WHEN 'x' THEN 'y' WHEN 'y' THEN 'victim' ELSE 'x' END WHERE id IN ('x', 'y', 'victim')`,
	"titles twice":         `DROP INDEX idx_sessions_title_unique; UPDATE sessions SET title = 'same'`,
	"orphans key only":     `INSERT INTO state_meta VALUES ('sessiondb_orphans', '1')`,
	"meta NULL":            `INSERT INTO state_meta VALUES ('last_auto_prune', NULL)`,
	"meta blob":            `INSERT INTO state_meta VALUES ('last_auto_prune', x'ff')`,
	"handoff odd":          `UPDATE sessions SET handoff_state = x'ff', handoff_platform = 5 WHERE id = 'victim'`,
	"model config no JSON": `UPDATE sessions SET model_config = '{', system_prompt = x'ff' WHERE id = 'victim'`,
}

// now is the clock of these stores.
var now = time.Unix(1778000000, 0)

// spoil makes a store with sessions good, victim, x and y and runs a statement
// on it behind our back.
func spoil(t *testing.T, statement string) *sessiondb.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	open := func() *sessiondb.DB {
		db, err := Open(t.Context(), path, Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	for _, id := range []string{"good", "victim", "x", "y"} {
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("quokka of " + id)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	db = open()
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestHostileRows reads, changes and prunes stores with rows that nobody should
// have written.
func TestHostileRows(t *testing.T) {
	for name, statement := range hostile {
		t.Run(name, func(t *testing.T) {
			db := spoil(t, statement)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for what, call := range hostileCalls(db) {
				if err := call(ctx); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			for _, active := range []bool{false, true} {
				list, err := db.Sessions(ctx, sessiondb.ListFilter{ByLastActive: active, Limit: -1})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(list, func(s sessiondb.ListedSession) bool { return s.ID == "good" }) {
					t.Errorf("by activity %v, the good session is not in the list of %d", active, len(list))
				}
				for _, s := range list {
					if _, err := s.MarshalJSON(); err != nil {
						t.Errorf("JSON of %q: %v", s.ID, err)
					}
				}
			}
			if n, err := db.MessageCount(ctx, "good"); err != nil || n != 2 {
				t.Errorf("%d messages, %v", n, err)
			}
		})
	}
}

// TestPruneOddTimes prunes sessions whose times another program wrote in its
// own way: text that tells a time counts as that time, what tells nothing is
// kept.
func TestPruneOddTimes(t *testing.T) {
	const noMessages = `DELETE FROM messages WHERE session_id = 'victim'; `
	for statement, pruned := range map[string]bool{
		noMessages + `UPDATE sessions SET started_at = '2026-04-09T12:00:00' WHERE id = 'victim'`:    true,
		noMessages + `UPDATE sessions SET started_at = '2026-08-10 12:00:00' WHERE id = 'victim'`:    false,
		noMessages + `UPDATE sessions SET started_at = 'yesterday' WHERE id = 'victim'`:              false,
		noMessages + `UPDATE sessions SET started_at = x'00ff' WHERE id = 'victim'`:                  false,
		noMessages + `UPDATE sessions SET started_at = 9e999 WHERE id = 'victim'`:                    false,
		`UPDATE sessions SET started_at = 'yesterday' WHERE id = 'victim'`:                           true,
		`UPDATE messages SET timestamp = '2026-04-09 12:00:00' WHERE session_id = 'victim'`:          true,
		`UPDATE messages SET timestamp = '2026-08-10 12:00:00' WHERE session_id = 'victim'`:          false,
		`UPDATE messages SET timestamp = 'soon' WHERE session_id = 'victim'`:                         false,
		`UPDATE messages SET timestamp = 9e999 WHERE session_id = 'victim'`:                          false,
		`UPDATE messages SET timestamp = x'00ff' WHERE session_id = 'victim'`:                        false,
		`UPDATE messages SET timestamp = 1786000000000 WHERE session_id = 'victim'`:                  false,
		`UPDATE messages SET timestamp = '2199-01-01' WHERE session_id = 'victim'`:                   true,
		`UPDATE sessions SET ended_at = 'later' WHERE id = 'victim'`:                                 true,
		`UPDATE sessions SET parent_session_id = id, end_reason = 'compression' WHERE id = 'victim'`: true,
	} {
		db := spoil(t, `UPDATE sessions SET ended_at = started_at; `+statement)
		now = now.AddDate(0, 0, 100)
		r, err := db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{})
		now = now.AddDate(0, 0, -100)
		if err != nil || !slices.Contains(r.Sessions, "good") || slices.Contains(r.Sessions, "victim") != pruned {
			t.Errorf("after %s: pruned %q, %v", statement, r.Sessions, err)
		}
	}
}

// TestReferenced prunes and deletes where another program's table refers to
// sessions.
func TestReferenced(t *testing.T) {
	db := spoil(t, `CREATE TABLE plugin_notes (session_id TEXT REFERENCES sessions(id), note TEXT);
INSERT INTO plugin_notes VALUES ('victim', 'keep');
UPDATE sessions SET ended_at = started_at`)
	if _, err := db.DeleteSession(t.Context(), "victim", sessiondb.DeleteOptions{}); !errors.Is(err, sessiondb.ErrReferenced) {
		t.Errorf("delete: %v", err)
	}
	now = now.AddDate(0, 0, 100)
	defer func() { now = now.AddDate(0, 0, -100) }()
	r, err := db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{})
	slices.Sort(r.Sessions)
	if err != nil || !slices.Equal(r.Sessions, []string{"good", "x", "y"}) || !slices.Equal(r.Referenced, []string{"victim"}) {
		t.Errorf("prune: %+v, %v", r, err)
	}
	if n, err := db.MessageCount(t.Context(), "victim"); n != 1 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
}

// TestExportUpToDamage exports a store with a page of messages overwritten: the
// sessions that can be read come out whole.
func TestExportUpToDamage(t *testing.T) {
	db, err := Open(t.Context(), fixture.Copy(t, "v11-badpage-messages.db"), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b bytes.Buffer
	n, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{})
	if !errors.Is(err, sessiondb.ErrCorrupt) || n == 0 || int64(bytes.Count(b.Bytes(), []byte("\n"))) != n || !bytes.HasSuffix(b.Bytes(), []byte("]}\n")) {
		t.Errorf("%d sessions in %d bytes, %v", n, b.Len(), err)
	}
}

// TestDeleteInCycles deletes sessions that are each other's parents.
func TestDeleteInCycles(t *testing.T) {
	for name, want := range map[string]string{
		"parent self":        "good victim y",
		"cycle":              "good victim",
		"cycle with a tail":  "good",
		"cycle of delegates": "good victim y",
		"parent gone":        "good victim y",
		"parent blob":        "good victim y",
	} {
		for _, only := range []bool{false, true} {
			db := spoil(t, hostile[name])
			if _, err := db.DeleteSession(t.Context(), "x", sessiondb.DeleteOptions{Only: only}); err != nil {
				t.Errorf("%s, only %v: %v", name, only, err)
			}
			want := want
			if only {
				want = "good victim y"
			}
			list, err := db.RecentSessions(t.Context(), "", -1, 0)
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, s := range list {
				left = append(left, s.ID)
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != want {
				t.Errorf("%s, only %v: left are %q, want %q", name, only, got, want)
			}
		}
	}
}

func hostileCalls(db *sessiondb.DB) map[string]func(context.Context) error {
	calls := map[string]func(context.Context) error{
		"append": func(ctx context.Context) error {
			_, err := db.AppendMessage(ctx, "good", sessiondb.Message{Role: "user", Content: sessiondb.Text("more")})
			return err
		},
		"recent": func(ctx context.Context) error { _, err := db.RecentSessions(ctx, "", -1, 0); return err },
		"page": func(ctx context.Context) error {
			_, err := db.Sessions(ctx, sessiondb.ListFilter{ByLastActive: true, Limit: 2, Offset: 1})
			return err
		},
		"children": func(ctx context.Context) error {
			_, err := db.Sessions(ctx, sessiondb.ListFilter{Children: true})
			return err
		},
		"by model":  func(ctx context.Context) error { _, err := db.UsageByModel(ctx, sessiondb.UsageFilter{}); return err },
		"by source": func(ctx context.Context) error { _, err := db.UsageBySource(ctx, sessiondb.UsageFilter{}); return err },
		"by day":    func(ctx context.Context) error { _, err := db.UsageByDay(ctx, sessiondb.UsageFilter{}); return err },
		"top":       func(ctx context.Context) error { _, err := db.TopSessions(ctx, sessiondb.UsageFilter{}, 0); return err },
		"export": func(ctx context.Context) error {
			_, err := db.ExportAll(ctx, io.Discard, sessiondb.ExportFilter{})
			return err
		},
		"handoffs": func(ctx context.Context) error { _, err := db.PendingHandoffs(ctx); return err },
		"next":     func(ctx context.Context) error { _, err := db.NextTitle(ctx, "same"); return err },
		"auto title": func(ctx context.Context) error {
			_, err := db.SetTitleAuto(ctx, "good", "same")
			return err
		},
		"ghosts": func(ctx context.Context) error {
			_, err := db.PruneEmptyGhosts(ctx, sessiondb.DeleteOptions{})
			return err
		},
		"finalize": func(ctx context.Context) error { _, err := db.FinalizeOrphanedCompressions(ctx); return err },
		"prune": func(ctx context.Context) error {
			_, err := db.Prune(ctx, sessiondb.PruneFilter{}, sessiondb.DeleteOptions{})
			return err
		},
		"maintain": func(ctx context.Context) error {
			return db.MaybePruneAndVacuum(ctx, sessiondb.MaintenanceOptions{}).Err
		},
	}
	for _, id := range []string{"victim", "x", "y"} {
		calls["session "+id] = func(ctx context.Context) error { _, err := db.Session(ctx, id); return err }
		calls["messages "+id] = func(ctx context.Context) error { _, err := db.Messages(ctx, id); return err }
		calls["lineage "+id] = func(ctx context.Context) error { _, err := db.Lineage(ctx, id); return err }
		calls["ancestors "+id] = func(ctx context.Context) error { _, err := db.Ancestors(ctx, id); return err }
		calls["descendants "+id] = func(ctx context.Context) error { _, err := db.Descendants(ctx, id); return err }
		calls["resume "+id] = func(ctx context.Context) error { _, err := db.ResumeSessionID(ctx, id); return err }
		calls["usage "+id] = func(ctx context.Context) error {
			cost := 1.0
			return db.UpdateUsage(ctx, id, sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 1}, EstimatedCostUSD: &cost})
		}
		calls["conversation "+id] = func(ctx context.Context) error { _, err := db.Conversation(ctx, id, true); return err }
		calls["dry delete "+id] = func(ctx context.Context) error {
			_, err := db.DeleteSession(ctx, id, sessiondb.DeleteOptions{DryRun: true})
			return err
		}
	}
	return calls
}
