package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
)

// No hot query reads messages from end to end. The server counts that by itself.
func TestNoSequentialScan(t *testing.T) {
	db, dsn := open(t)
	for i := range 300 {
		id := fmt.Sprintf("s%03d", i)
		session(t, db, id)
		ms := make([]sessiondb.Message, 100)
		for j := range ms {
			ms[j] = sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprintf("common words and rare%dx%dx 배포", i, j))}
		}
		if _, err := db.AppendMessages(t.Context(), id, ms); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Tag(t.Context(), "s007", []string{"few"}, nil); err != nil {
		t.Fatal(err)
	}
	var plan string
	if err := raw(t, dsn).QueryRow(t.Context(), `EXPLAIN (FORMAT JSON) `+lookSQL).Scan(&plan); err != nil || strings.Contains(plan, "Seq Scan") {
		t.Errorf("without statistics, what a search has to know first: %v\n%s", err, plan)
	}
	if err := db.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	idle, _ := openIdle(t, dsn)
	say(t, idle, "s008", "common words and rare7x42x and rare8x42x 배포 that wait for the index")
	if err := idle.Close(); err != nil {
		t.Fatal(err)
	}
	c := raw(t, dsn)
	for name, do := range hotCalls {
		before := scans(t, c)
		db, _ := openIdle(t, dsn)
		for range 3 { // for plans that are kept too
			if err := do(t, db); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if n := scans(t, c) - before; n != 0 {
			t.Errorf("%s reads all messages, %d times", name, n)
		}
	}
}

var hotCalls = map[string]func(t *testing.T, db *sessiondb.DB) error{
	"append": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.AppendMessage(t.Context(), "s007", sessiondb.Message{Role: "user", Content: sessiondb.Text("more")})
		return err
	},
	"messages": func(t *testing.T, db *sessiondb.DB) error { _, err := db.Messages(t.Context(), "s007"); return err },
	"around": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.AnchoredView(t.Context(), "s007", 750, sessiondb.AnchoredOptions{Window: 5, Bookend: 3})
		return err
	},
	"conversation": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.Conversation(t.Context(), "s007", true)
		return err
	},
	"list": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.Sessions(t.Context(), sessiondb.ListFilter{})
		return err
	},
	"list by activity": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.Sessions(t.Context(), sessiondb.ListFilter{ByLastActive: true, Limit: 5})
		return err
	},
	"a rare word":  search(sessiondb.SearchQuery{Text: "rare7x42x"}),
	"a phrase":     search(sessiondb.SearchQuery{Text: `"and rare7x42x"`}),
	"a prefix":     search(sessiondb.SearchQuery{Text: "rare7x4*"}),
	"a fragment":   search(sessiondb.SearchQuery{Text: "are7x42", Substring: true}),
	"both":         search(sessiondb.SearchQuery{Text: "rare7x42x 배포"}),
	"one of two":   search(sessiondb.SearchQuery{Text: "rare7x42x OR rare8x42x", Sort: sessiondb.Newest}),
	"of a tag":     search(sessiondb.SearchQuery{Text: "rare7x42x tag:few", CountTotal: true}),
	"not of a tag": search(sessiondb.SearchQuery{Text: "rare8x42x -tag:few", Sort: sessiondb.Newest}),
	"list of a tag": func(t *testing.T, db *sessiondb.DB) error {
		_, err := db.Sessions(t.Context(), sessiondb.ListFilter{ByLastActive: true, Tags: []string{"few"}})
		return err
	},
	"in some session": search(sessiondb.SearchQuery{Text: "rare7x42x source:cli", CountTotal: true}),
}

func search(q sessiondb.SearchQuery) func(t *testing.T, db *sessiondb.DB) error {
	return func(t *testing.T, db *sessiondb.DB) error {
		r, err := db.Search(t.Context(), q)
		if err == nil && len(r.Hits) == 0 {
			err = fmt.Errorf("no hits of %s", q.Text)
		}
		return err
	}
}

// scans is how often the server has read messages from end to end. It learns that
// when a connection ends, so it is asked until none is left.
func scans(t *testing.T, c *pgx.Conn) (n int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a store left open would be waited for without end
	defer cancel()
	for others := 1; others > 0; {
		err := c.QueryRow(ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'sessiondb'`).Scan(&others)
		if err != nil {
			t.Fatalf("%d connections of stores left: %v", others, err)
		}
	}
	err := c.QueryRow(t.Context(), `SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'messages' AND schemaname = current_schema()`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
