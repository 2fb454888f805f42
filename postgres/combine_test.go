package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// tell writes messages of one part, and then some of several: their first words are
// in one part and their last words in another.
func tell(t *testing.T, db *sessiondb.DB) {
	t.Helper()
	session(t, db, "s")
	session(t, db, "other")
	for i, text := range []string{
		"alpha omega", "alpha beta gamma", "beta", "omega then alpha", "alpha omega alpha", "gamma beta, alpha beta", "배포 alpha", "docker배포 omega", "well alphabet",
	} {
		say(t, db, []string{"s", "other"}[i%2], text)
	}
	again := strings.Repeat("again ", 3*maxPlaces)
	for _, text := range []string{"alpha " + again + "omega", "beta " + again + "gamma alpha beta", "alpha beta " + again, again + "배포"} {
		say(t, db, "s", text)
	}
}

// Words of a query may stand in two parts of a message, and a word that may not
// stand in it is in a part where the others are not.
func TestWordsOfSeveralParts(t *testing.T) {
	dsn, _ := newSchema(t)
	db, s := openIdle(t, dsn)
	tell(t, db)
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	err := raw(t, dsn).QueryRow(t.Context(), `SELECT COUNT(DISTINCT message_id) FROM sessiondb_terms WHERE part > 0`).Scan(&n)
	if err != nil || n != 4 {
		t.Fatalf("%d messages have several parts, %v", n, err)
	}
	for text, want := range map[string]int64{
		"again": 4, "alpha again omega": 1, "alpha omega": 4, `"alpha omega"`: 2, `"again omega"`: 1, "again -omega": 3, "again -alpha": 1,
		"alpha -omega": 5, "(alpha OR beta) -again": 7, "beta gamma": 3, "beta -gamma": 2, "again omega OR gamma": 4, "alpha* -again": 7, `again -"alpha beta"`: 2,
	} {
		if n := hits(t, db, sessiondb.SearchQuery{Text: text}); n != want {
			t.Errorf("%s finds %d, not %d", text, n, want)
		}
	}
}

// A query of all words at once finds what one term by term does, in the same order.
func TestCombinedIsTheSame(t *testing.T) {
	dsn, _ := newSchema(t)
	combined, byTerm := openKnowing(t, dsn, true), openKnowing(t, dsn, false)
	tell(t, combined)
	compare := func(when string) {
		t.Helper()
		found := 0
		for _, text := range []string{
			"alpha", "again", "alpha omega", "alpha beta", `"alpha omega"`, "alpha OR omega", "alpha -omega", "alp*", `"again ome"*`, "(alpha beta) OR gamma", "alpha -(beta gamma)",
			"alpha -beta -omega", "(alpha -beta) OR (omega -alpha)", "배포", "alpha 배포", "omega -배포", "again role:user", "alpha session:other", "nowhere OR beta", "nowhere alpha", "it's alpha", "*",
		} {
			for _, q := range []sessiondb.SearchQuery{
				{Text: text}, {Text: text, Limit: 2, Offset: 1}, {Text: text, Sort: sessiondb.Newest}, {Text: text, Sort: sessiondb.Oldest, Limit: 3},
				{Text: text, CountTotal: true, Roles: []string{"user"}},
			} {
				got, err := combined.Search(t.Context(), q)
				want, wantErr := byTerm.Search(t.Context(), q)
				if d := cmp.Diff(want, got); d != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s: %+v: %v, %v\n%s", when, q, err, wantErr, d)
				}
				found += len(got.Hits)
			}
		}
		if found < 100 {
			t.Errorf("%s: only %d hits were compared", when, found)
		}
	}
	compare("some of several parts")
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `UPDATE messages SET content = 'beta gamma alpha' WHERE content = 'alpha omega'`); err != nil {
		t.Fatal(err)
	}
	compare("one not indexed")
	say(t, combined, "other", "the last one")
	if _, err := c.Exec(t.Context(), `DELETE FROM messages WHERE content LIKE '%again%'`); err != nil {
		t.Fatal(err)
	}
	compare("none of several parts")
}

func openKnowing(t *testing.T, dsn string, parts bool) *sessiondb.DB {
	t.Helper()
	s, err := openStore(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !s.knowsParts {
		t.Error("a new store has no index of parts")
	}
	s.knowsParts = parts
	db := sessiondb.New(s, sessiondb.Config{})
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// A store of the layout before this one is searched as it is, and gets the index
// from the first program that may write.
func TestLayoutBeforeParts(t *testing.T) {
	db, dsn := open(t)
	tell(t, db)
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `DROP INDEX sessiondb_terms_several; UPDATE state_meta SET value = '4' WHERE key = '`+layoutKey+`'`); err != nil {
		t.Fatal(err)
	}
	state := func() (value string, indexes int) {
		t.Helper()
		err := c.QueryRow(t.Context(), `SELECT (SELECT value FROM state_meta WHERE key = $1), (SELECT COUNT(*) FROM pg_indexes WHERE schemaname = current_schema()
 AND indexname = 'sessiondb_terms_several')`, layoutKey).Scan(&value, &indexes)
		if err != nil {
			t.Fatal(err)
		}
		return value, indexes
	}
	for _, readOnly := range []bool{true, false} {
		s, err := openStore(t.Context(), dsn, Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		db := sessiondb.New(s, sessiondb.Config{})
		if n := hits(t, db, sessiondb.SearchQuery{Text: "alpha omega"}); n != 4 || s.knowsParts == readOnly {
			t.Errorf("for reading only %v: %d hits, knows parts %v", readOnly, n, s.knowsParts)
		}
		wantValue, wantIndexes := strconv.Itoa(layout), 1
		if readOnly {
			wantValue, wantIndexes = "4", 0
		}
		if value, indexes := state(); value != wantValue || indexes != wantIndexes {
			t.Errorf("for reading only %v: layout %s, %d indexes", readOnly, value, indexes)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
