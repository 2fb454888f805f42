package sqlite

import (
	"context"
	"fmt"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// counting is a store that counts the queries of its readers.
type counting struct {
	*store
	queries int
}

func (c *counting) Read(ctx context.Context, fn func(engine.Queryer) error) error {
	return c.store.Read(ctx, func(q engine.Queryer) error { return fn(countingQueryer{q, c}) })
}

type countingQueryer struct {
	engine.Queryer
	c *counting
}

func (q countingQueryer) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	q.c.queries++
	return q.Queryer.Query(ctx, query, args...)
}

func (q countingQueryer) QueryRow(ctx context.Context, query string, args ...any) engine.Row {
	q.c.queries++
	return q.Queryer.QueryRow(ctx, query, args...)
}

func (q countingQueryer) QueryColumns(ctx context.Context, columns, rest string, args ...any) (engine.Rows, error) {
	q.c.queries++
	return q.Queryer.QueryColumns(ctx, columns, rest, args...)
}

// chainOf is a store with one chain of n sessions, a message in each.
func chainOf(t *testing.T, n int) *counting {
	t.Helper()
	s := fresh(t)
	run(t, s.w, fmt.Sprintf(`INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason)
 WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < %d)
 SELECT 's' || i, 'cli', CASE WHEN i > 0 THEN 's' || (i - 1) END, i, i + 1, 'compression' FROM n`, n-1))
	run(t, s.w, "INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'word ' || id, started_at FROM sessions ORDER BY started_at")
	return &counting{store: s}
}

// What is asked of a chain costs as many queries as it has sessions, not the
// square of that.
func TestQueriesOfLongChains(t *testing.T) {
	for name, call := range map[string]func(db *sessiondb.DB, last string) error{
		"grouped": func(db *sessiondb.DB, _ string) error {
			r, err := db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: "word"})
			if err == nil && len(r.Conversations) != 1 {
				t.Errorf("%d conversations", len(r.Conversations))
			}
			return err
		},
		"conversation": func(db *sessiondb.DB, last string) error {
			_, err := db.Conversation(t.Context(), last, true)
			return err
		},
		"list": func(db *sessiondb.DB, _ string) error {
			_, err := db.Sessions(t.Context(), sessiondb.ListFilter{ByLastActive: true})
			return err
		},
		"resume": func(db *sessiondb.DB, _ string) error {
			_, err := db.ResumeSessionID(t.Context(), "s0")
			return err
		},
	} {
		var queries []int
		for _, n := range []int{60, 120} {
			c := chainOf(t, n)
			if err := call(sessiondb.New(c, sessiondb.Config{}), fmt.Sprint("s", n-1)); err != nil {
				t.Fatal(err)
			}
			queries = append(queries, c.queries)
		}
		if queries[1] > 3*queries[0] {
			t.Errorf("%s: %d queries for 60 sessions, %d for 120", name, queries[0], queries[1])
		}
	}
}
