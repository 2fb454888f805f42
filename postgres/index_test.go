package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
)

// open opens a store in a new schema.
func open(t *testing.T) (db *sessiondb.DB, dsn string) {
	t.Helper()
	dsn, _ = newSchema(t)
	return openAt(t, dsn), dsn
}

func openAt(t *testing.T, dsn string) *sessiondb.DB {
	t.Helper()
	db, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// raw is a connection of another program.
func raw(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

func session(t *testing.T, db *sessiondb.DB, id string) {
	t.Helper()
	if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
		t.Fatal(err)
	}
}

func say(t *testing.T, db *sessiondb.DB, id, text string) int64 {
	t.Helper()
	m, err := db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// hits is how many messages a search finds.
func hits(t *testing.T, db *sessiondb.DB, q sessiondb.SearchQuery) int64 {
	t.Helper()
	q.CountTotal = true
	r, err := db.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return *r.Total
}

// All of a message is found that is larger than a tsvector may be, has more words
// than it has places for, or one word more often than it counts.
func TestLargeMessages(t *testing.T) {
	db, _ := open(t)
	session(t, db, "s")
	var different strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&different, "w%dx ", i)
	}
	say(t, db, "s", different.String()+"the end of it 배포")
	say(t, db, "s", strings.Repeat("again ", 70_000)+"and again stop")
	say(t, db, "s", "beginning "+strings.Repeat("漢字かな交じり文", 20_000)+" last")
	for text, want := range map[string]int64{
		"w0x": 1, "w199999x": 1, `"w15998x w15999x w16000x w16001x"`: 1, `"w0x w199999x"`: 0, "w0x w199999x": 1, "배포": 1, `"end of it"`: 1,
		`"again stop"`: 1, `"again and"`: 1, `"stop again"`: 0, "beginning last": 1, "字かな交じり文漢": 1, "文last": 0, "again -stop": 0,
	} {
		if n := hits(t, db, sessiondb.SearchQuery{Text: text}); n != want {
			t.Errorf("%s finds %d, not %d", text, n, want)
		}
	}
	for text, want := range map[string]int64{"5998x w15999x w1": 1, "99999x the": 1, "gain an": 1, "zzzz": 0} {
		if n := hits(t, db, sessiondb.SearchQuery{Text: `"` + text + `"`, Substring: true}); n != want {
			t.Errorf("%s stands in %d, not %d", text, n, want)
		}
	}
}

// What another program writes is found at once, by what it says now, and is in the
// index after the next write.
func TestForeignWriters(t *testing.T) {
	db, dsn := open(t)
	c := raw(t, dsn)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, zebras, lions, waiting int64) {
		t.Helper()
		var n int64
		if err := c.QueryRow(t.Context(), `SELECT COUNT(*) FROM sessiondb_unindexed`).Scan(&n); err != nil || n != waiting {
			t.Errorf("%s: %d messages wait, not %d, %v", when, n, waiting, err)
		}
		if z, l := hits(t, db, sessiondb.SearchQuery{Text: "zebra"}), hits(t, db, sessiondb.SearchQuery{Text: "lion"}); z != zebras || l != lions {
			t.Errorf("%s: %d zebras and %d lions, not %d and %d", when, z, l, zebras, lions)
		}
	}
	session(t, db, "s")
	exec(`INSERT INTO messages (session_id, role, content, timestamp) SELECT 's', 'user', 'a zebra', n FROM generate_series(1, 450) n`)
	check("written", 450, 0, 450)
	say(t, db, "s", "another zebra")
	check("indexed", 451, 0, 0)
	exec(`UPDATE messages SET content = 'a lion' WHERE id <= 10`)
	check("changed", 441, 10, 10)
	exec(`DELETE FROM messages WHERE id <= 5`)
	check("deleted", 441, 5, 5)
	say(t, db, "s", "nothing")
	check("indexed again", 441, 5, 0)
	exec(`DELETE FROM sessiondb_terms`)
	found, err := db.Check(t.Context(), sessiondb.CheckOptions{})
	if err != nil || !slices.ContainsFunc(found, func(f sessiondb.Finding) bool { return f.Code == "index_rows" }) {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := db.Repair(t.Context(), sessiondb.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	check("repaired", 441, 5, 0)
}
