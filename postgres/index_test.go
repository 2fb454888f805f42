package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// openIdle opens a store that puts nothing into the index until it is asked to.
func openIdle(t *testing.T, dsn string) (*sessiondb.DB, *store) {
	t.Helper()
	s, err := openStore(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.indexer = nil
	db := sessiondb.New(s, sessiondb.Config{})
	t.Cleanup(func() { _ = db.Close() })
	return db, s
}

// waits is how many messages are not in the index.
func waits(t *testing.T, c *pgx.Conn) (n int64) {
	t.Helper()
	if err := c.QueryRow(t.Context(), `SELECT COUNT(*) FROM sessiondb_unindexed`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What another program writes is found at once, by what it says now.
func TestForeignWriters(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	c := raw(t, dsn)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	index := func() {
		t.Helper()
		if err := s.indexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, zebras, lions, waiting int64) {
		t.Helper()
		if n := waits(t, c); n != waiting {
			t.Errorf("%s: %d messages wait, not %d", when, n, waiting)
		}
		if z, l := hits(t, db, sessiondb.SearchQuery{Text: "zebra"}), hits(t, db, sessiondb.SearchQuery{Text: "lion"}); z != zebras || l != lions {
			t.Errorf("%s: %d zebras and %d lions, not %d and %d", when, z, l, zebras, lions)
		}
	}
	session(t, db, "s")
	exec(`INSERT INTO messages (session_id, role, content, timestamp) SELECT 's', 'user', 'a zebra', n FROM generate_series(1, 450) n`)
	say(t, db, "s", "another zebra")
	check("written", 451, 0, 451)
	index()
	check("indexed", 451, 0, 0)
	exec(`UPDATE messages SET content = 'a lion' WHERE id <= 10`)
	check("changed", 441, 10, 10)
	exec(`DELETE FROM messages WHERE id <= 5`)
	check("deleted", 441, 5, 5)
	index()
	check("indexed again", 441, 5, 0)
	exec(`BEGIN; UPDATE messages SET content = 'one lion' WHERE id = 6`)
	index()
	exec(`COMMIT`)
	check("changed while others are indexed", 441, 5, 1)
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

// A message that waits for the index is found as one that is in it, in the same order,
// also by who may only read.
func TestWaitingIsTheSame(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	reader, err := Open(t.Context(), dsn, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	tell(t, db)
	all := waits(t, raw(t, dsn))
	if all == 0 {
		t.Fatal("no message waits")
	}
	answers := func() (out []sessiondb.SearchResult) {
		for _, text := range []string{
			"alpha", "again", "alpha omega", `"alpha omega"`, "alpha OR omega", "alpha -omega", "alp*", "again omega", "again -alpha", "배포", "alpha 배포", "omega -배포",
			"nowhere alpha", "well OR 배포", "nowhere",
		} {
			for _, q := range []sessiondb.SearchQuery{
				{Text: text}, {Text: text, Limit: 2, Offset: 1}, {Text: text, Sort: sessiondb.Newest}, {Text: text, Substring: true, CountTotal: true}, {Text: text, MaxRanked: 2}, {Text: text, Roles: []string{"user"}},
			} {
				for _, db := range []*sessiondb.DB{db, reader} {
					r, err := db.Search(t.Context(), q)
					if err != nil {
						t.Errorf("%+v: %v", q, err)
					}
					out = append(out, r)
				}
			}
		}
		return out
	}
	waiting := answers()
	if n, err := s.indexSome(t.Context()); err != nil || int64(n) != all {
		t.Fatalf("%d of %d messages were indexed, %v", n, all, err)
	}
	if d := cmp.Diff(answers(), waiting); d != "" {
		t.Errorf("found in the index, and while they waited:\n%s", d)
	}
	say(t, db, "s", "one more alpha omega 배포") // waits beside those that are there
	one := answers()
	if n, err := s.indexSome(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d messages were indexed, %v", n, err)
	}
	if d := cmp.Diff(answers(), one); d != "" {
		t.Errorf("found in the index, and while one waited:\n%s", d)
	}
}

// What a store has written is in the index when it is closed; what others left is put
// there by the next one that writes or searches.
func TestIndexer(t *testing.T) {
	dsn, _ := newSchema(t)
	idle, _ := openIdle(t, dsn)
	c := raw(t, dsn)
	session(t, idle, "s")
	for name, do := range map[string]func(db *sessiondb.DB){
		"writes": func(db *sessiondb.DB) {
			ms := make([]sessiondb.Message, 2*maxBehind) // more than may wait
			for i := range ms {
				ms[i] = sessiondb.Message{Role: "user", Content: sessiondb.Text("many words")}
			}
			if _, err := db.AppendMessages(t.Context(), "s", ms); err != nil {
				t.Error(err)
			}
		},
		"searches": func(db *sessiondb.DB) { hits(t, db, sessiondb.SearchQuery{Text: "left"}) },
	} {
		say(t, idle, "s", "left over")
		if n := waits(t, c); n != 1 {
			t.Fatalf("%d messages wait", n)
		}
		db := openAt(t, dsn)
		do(db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if n := waits(t, c); n != 0 {
			t.Errorf("who %s and is closed leaves %d messages", name, n)
		}
	}
}
