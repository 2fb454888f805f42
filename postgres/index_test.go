package postgres

import (
	"bytes"
	"fmt"
	"log/slog"
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
	exec(`UPDATE messages SET content = 'lion' WHERE id = 6`)
	if err := db.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("vacuumed", 441, 5, 0)
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
	if x, err := s.indexSome(t.Context(), 0); err != nil || int64(x.n) != all {
		t.Fatalf("%+v of %d messages, %v", x, all, err)
	}
	if d := cmp.Diff(answers(), waiting); d != "" {
		t.Errorf("found in the index, and while they waited:\n%s", d)
	}
	say(t, db, "s", "one more alpha omega 배포") // waits beside those that are there
	one := answers()
	if x, err := s.indexSome(t.Context(), 0); err != nil || x.n != 1 {
		t.Fatalf("%+v, %v", x, err)
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

// What others are changing is passed over, however much it is.
func TestIndexPassesOver(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	session(t, db, "s")
	c, other := raw(t, dsn), raw(t, dsn)
	exec := func(c *pgx.Conn, sql string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(c, fmt.Sprintf(`INSERT INTO messages (session_id, role, content, timestamp) SELECT 's', 'user', 'a zebra', n FROM generate_series(1, %d) n`, 4*indexStep))
	exec(other, fmt.Sprintf(`BEGIN; UPDATE messages SET content = 'a lion' WHERE id <= %d`, 2*indexStep+1))
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := waits(t, c); n != 2*indexStep+1 {
		t.Errorf("%d messages wait, not those %d that are being changed", n, 2*indexStep+1)
	}
	exec(other, `COMMIT`)
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, lions := waits(t, c), hits(t, db, sessiondb.SearchQuery{Text: "lion"}); n != 0 || lions != 2*indexStep+1 {
		t.Errorf("%d messages wait, %d lions", n, lions)
	}
}

// Long messages are put into the index a few at a time.
func TestIndexStepIsBounded(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	session(t, db, "s")
	for range 3 {
		say(t, db, "s", strings.Repeat("long ", indexBytes/8))
	}
	say(t, db, "s", strings.Repeat("longer ", indexBytes/4))
	var last int64
	for _, want := range []indexed{{2, 2, true}, {2, 4, false}} {
		x, err := s.indexSome(t.Context(), last)
		if err != nil || x != want {
			t.Errorf("%+v, not %+v, %v", x, want, err)
		}
		last = x.last
	}
}

// Who can't index says so once, and goes on when it can.
func TestIndexingFails(t *testing.T) {
	dsn, _ := newSchema(t)
	var log bytes.Buffer
	db, err := Open(t.Context(), dsn, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	c := raw(t, dsn)
	session(t, db, "s")
	rename := func(from, to string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("sessiondb_terms", "gone")
	for range 2 * maxBehind { // nobody waits for ever
		say(t, db, "s", "a zebra")
	}
	rename("gone", "sessiondb_terms")
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	caughtUp(t, dsn)
	if n := strings.Count(log.String(), "search index"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}

// An id that another program gives is not given again, the first one neither.
func TestGivenIDs(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "s")
	c := raw(t, dsn)
	for _, id := range []int64{1, 10, 100, 50} {
		if _, err := c.Exec(t.Context(), `INSERT INTO messages (id, session_id, role, timestamp) VALUES ($1, 's', 'user', 1)`, id); err != nil {
			t.Fatal(err)
		}
		if given := say(t, db, "s", "more"); given <= id || id == 50 && given != 102 {
			t.Errorf("after %d, %d was given", id, given)
		}
	}
}
