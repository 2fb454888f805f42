package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// The matcher below is slow and plain, and knows nothing of an index.

// plainMatches reports whether a message matches a tree.
func plainMatches(n searchql.Node, message string) bool {
	switch n := n.(type) {
	case *searchql.Term:
		return plainTerm(n, message)
	case *searchql.Or:
		return slices.ContainsFunc(n.Nodes, func(k searchql.Node) bool { return plainMatches(k, message) })
	case *searchql.And:
		for _, k := range n.Nodes {
			if !plainMatches(k, message) {
				return false
			}
		}
		return !slices.ContainsFunc(n.Not, func(k searchql.Node) bool { return plainMatches(k, message) })
	}
	panic("unknown node")
}

func plainTerm(t *searchql.Term, message string) bool {
	text, message := strings.ToLower(t.Text), strings.ToLower(message)
	if t.Fragment {
		return strings.Contains(message, text)
	}
	want := strings.Fields(spaced(text, plainWord))
	if len(want) == 0 {
		return false
	}
	// Once with words as the spaces and marks make them, once with a word ending
	// at every change of script too, for the text as it was typed.
	if plainPhrase(strings.Fields(spaced(message, plainWord)), want, t.Prefix) {
		return true
	}
	for i := range message {
		rest, ok := strings.CutPrefix(message[i:], text)
		if !ok {
			continue
		}
		before, after := lastRune(message[:i]), firstRune(rest)
		if touches(before) && (t.Prefix || !plainWord(after) || touches(after)) ||
			touches(after) && !t.Prefix && !plainWord(before) {
			return true
		}
	}
	return false
}

func plainPhrase(have, want []string, prefix bool) bool {
	for i := 0; i+len(want) <= len(have); i++ {
		last := len(want) - 1
		got := have[i : i+len(want)]
		if slices.Equal(got[:last], want[:last]) && (got[last] == want[last] || prefix && strings.HasPrefix(got[last], want[last])) {
			return true
		}
	}
	return false
}

func plainWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func spaced(s string, keep func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if keep(r) {
			return r
		}
		return ' '
	}, s)
}

func lastRune(s string) rune {
	if r := []rune(s); len(r) > 0 {
		return r[len(r)-1]
	}
	return ' '
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return ' '
}

// pieces make messages and queries that have something to do with each other.
var pieces = strings.Split("a|b|ab|abc|docker|deploy|er|x1|0|12|배|배포|포|오류|错|题本|的|カ|タワ|ค้น|หา|🚀|🤖| | | | |.|-|_|/|:|'|\"|(|)|*|,|!| OR | AND | NOT | -|#|@|\\|、|。|и|мир|ß| tag:odd| -tag:third ", "|")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// plainMessage is the text of a message, its session, and the tags of its conversation.
type plainMessage struct {
	text, session string
	tags          []string
}

// plainFilters reports whether a message passes the filters of a query.
func plainFilters(filters []searchql.Filter, m plainMessage) bool {
	for _, f := range filters {
		if slices.Contains(m.tags, strings.ToLower(strings.TrimPrefix(f.Value, "#"))) == f.Not {
			return false
		}
	}
	return true
}

// fuzzStore holds random messages in conversations with tags, some with ids far from
// the others, and the texts that the fuzzer starts with.
func fuzzStore(t testing.TB) (*sessiondb.DB, map[int64]plainMessage) {
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{}, settings{many: 40})
	if err != nil {
		t.Fatal(err)
	}
	db := sessiondb.New(s, sessiondb.Config{})
	t.Cleanup(func() { _ = db.Close() })
	tags := [][]string{nil, {"odd"}, {"third"}, {"odd", "third"}}
	for i, tags := range tags {
		id := fmt.Sprint("s", i)
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Tag(t.Context(), id, tags, nil); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[int64]plainMessage{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 250 {
		text := randomText(r, 1+r.IntN(9))
		of := i % len(tags)
		session := fmt.Sprint("s", of)
		if i == 50 {
			leaveIDs(t, s, 100_000)
		}
		id, err := db.AppendMessage(t.Context(), session, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
		if err != nil {
			t.Fatal(err)
		}
		texts[id] = plainMessage{text + "  ", session, tags[of]}
	}
	return db, texts
}

// leaveIDs lets the next message have an id so much greater.
func leaveIDs(t testing.TB, s *store, n int) {
	t.Helper()
	err := s.Write(t.Context(), func(tx engine.Execer) error {
		_, err := tx.Exec(t.Context(), `UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'messages'`, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSearch compares a search with the plain matcher.
func checkSearch(t testing.TB, db *sessiondb.DB, texts map[int64]plainMessage, q sessiondb.SearchQuery) {
	t.Helper()
	q.Limit = -1
	r, err := db.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	got := map[int64]bool{}
	for _, h := range r.Hits {
		if got[h.MessageID] {
			t.Errorf("%q: message %d twice", q.Text, h.MessageID)
		}
		got[h.MessageID] = true
	}
	tree := searchql.Parse(q.Text, searchql.Options{Substring: q.Substring})
	if slices.ContainsFunc(tree.Filters, func(f searchql.Filter) bool { return f.Field != searchql.Tag }) {
		return
	}
	for id, m := range texts {
		want := tree.Root != nil && plainMatches(tree.Root, m.text) && plainFilters(tree.Filters, m) &&
			(q.Sessions == nil || slices.Contains(q.Sessions, m.session))
		if want != got[id] {
			t.Errorf("%q, read as %s: message %q of %s with the tags %q is found: %v, matches: %v", q.Text, r.Understood, m.text, m.session, m.tags, got[id], want)
		}
	}
}

// TestSearchPlain asks at random and compares with the plain matcher.
func TestSearchPlain(t *testing.T) {
	db, texts := fuzzStore(t)
	r := rand.New(rand.NewPCG(3, 4))
	orders := []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest, sessiondb.Oldest}
	for i := range 400 {
		q := sessiondb.SearchQuery{Text: randomText(r, 1+r.IntN(8)), Substring: i%5 == 0, Sort: orders[i%3], MaxRanked: i % 40, Sessions: someSessions(i)}
		checkSearch(t, db, texts, q)
	}
}

// someSessions are sessions to look in, or nil for all.
func someSessions(i int) []string {
	if i%3 > 0 {
		return nil
	}
	return []string{fmt.Sprint("s", i%4)}
}

// FuzzSearch searches for anything: no error, no hit that does not match, no
// match that is missed.
func FuzzSearch(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		f.Add(randomText(r, 1+i%8), i%4 == 0)
	}
	f.Add("\x00\xff\"", false)
	db, texts := fuzzStore(f)
	f.Fuzz(func(t *testing.T, text string, substring bool) {
		if strings.ContainsFunc(text, unsettled) {
			// What is a letter, and its lower case, depends on the edition of
			// Unicode: only errors are looked for.
			if _, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: text, Substring: substring}); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		checkSearch(t, db, texts, sessiondb.SearchQuery{Text: text, Substring: substring, Sessions: someSessions(len(text))})
	})
}

// unsettled tells characters that are not among those of the messages.
func unsettled(r rune) bool {
	return r >= 0x80 && !strings.ContainsRune(fmt.Sprint(pieces), r)
}
