package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// TestFew compares searches that look first for what is rare, or walk the messages,
// with those that look for everything everywhere.
func TestFew(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	path := timedPath(t)
	whole := db(openWith(t, path, Options{}, settings{few: -1, many: 1 << 30}))
	others := map[string]*sessiondb.DB{
		"few":            db(openWith(t, path, Options{}, settings{many: 1 << 30})),
		"walked":         db(openWith(t, path, Options{}, settings{few: -1, many: 1})),
		"few and walked": db(openWith(t, path, Options{}, settings{few: 50, many: 10})),
	}
	sorts := []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest, sessiondb.Oldest}
	hits, i := 0, 0
	for _, text := range []string{
		"docker", "doc*", "docker deploy", "docker 배포", "배포 -docker", "docker -배포", "docker -deploy", "docker NOT deploy", "오류 OR docker",
		"zebra docker", "(docker OR 배포) (er OR 오류)", "docker -(배포 OR er)", "a 배",
	} {
		for _, filter := range []string{
			"", "session:a", "session:b role:user", "session:nosuch", "-session:a", "source:of-b", "after:1970-01-01T00:01:00Z",
			"after:1970-01-01T00:00:10.5Z before:1970-01-01T00:00:14Z", "-after:1970-01-01T00:00:50Z", "after:2020",
		} {
			i++
			q := sessiondb.SearchQuery{Text: text + " " + filter, Sort: sorts[i%3], MaxRanked: i % 2 * 30, Limit: 15, CountTotal: true, NoSuggestions: i%4 > 0}
			want, n := bothWays(t, whole, q)
			hits += n
			for name, other := range others {
				if got, _ := bothWays(t, other, q); got != want {
					t.Errorf("%s, %q, %s, %d:\n%s\nnot\n%s", name, q.Text, q.Sort, q.MaxRanked, got, want)
				}
			}
		}
	}
	if hits < 500 {
		t.Errorf("only %d hits", hits)
	}
}

// bothWays is what a search finds, plain and by conversation.
func bothWays(t *testing.T, db *sessiondb.DB, q sessiondb.SearchQuery) (string, int) {
	t.Helper()
	plain, err := db.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	grouped, err := db.SearchGrouped(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	out := fmt.Sprint(hitIDs(plain.Hits), " of ", *plain.Total, plain.NewestFirst, plain.Notices, plain.Suggestions, " in ", *grouped.Total, grouped.NewestFirst)
	for _, c := range grouped.Conversations {
		out += fmt.Sprint(" ", c.RootID, ":", c.Best.MessageID, " of ", c.Hits)
	}
	return out, len(plain.Hits)
}

// TestFewPlans sees that where few messages are to be looked at, they are found by an
// index, and the full-text indexes are asked for those, or for what lies between them.
func TestFewPlans(t *testing.T) {
	s := openWith(t, timedPath(t), Options{}, settings{})
	const near, each = "VIRTUAL TABLE INDEX 0:M1><", "VIRTUAL TABLE INDEX 0:=M1"
	ofSession, ofTime := "SEARCH m USING COVERING INDEX idx_messages_session (session_id=?)", "SEARCH m USING COVERING INDEX "+activityIndex+" (timestamp>?"
	for _, c := range []struct {
		text string
		m    engine.Match
		by   []string
	}{
		{"docker", engine.Match{Sessions: []string{"a"}}, []string{ofSession, near}},
		{"docker", engine.Match{Sessions: []string{"a"}, Order: engine.Newest}, []string{ofSession, near}},
		{"docker", engine.Match{Sessions: []string{"a"}, Count: true}, []string{ofSession, near}},
		{"docker after:1970-01-01T00:00:30Z before:1970-01-01T00:00:40Z", engine.Match{}, []string{ofTime, near}},
		{"docker after:1970-01-01T00:01:08Z", engine.Match{Order: engine.Newest}, []string{ofTime, each}},
		{"docker 배포", engine.Match{}, []string{each}},
		{"docker 배포", engine.Match{Order: engine.Oldest}, []string{each}},
	} {
		c.m.Query, c.m.Limit = searchql.Parse(c.text, searchql.Options{}), 20
		if span := span(c.m.Query.Filters); span.sql != "" {
			c.m.Where, c.m.Args = span.sql, span.args
		}
		err := s.Read(t.Context(), func(q engine.Queryer) error {
			p := &planner{Queryer: q, t: t}
			_, err := s.Match(t.Context(), p, c.m)
			for _, step := range c.by {
				if !strings.Contains(strings.Join(p.plans, "\n"), step) {
					t.Errorf("%q: no %q in\n%s", c.text, step, strings.Join(p.plans, "\n"))
				}
			}
			for _, step := range p.plans {
				if step == "SCAN m" || step == "SCAN messages" || strings.Contains(step, each) && !slices.Contains(c.by, each) {
					t.Errorf("%q: %s", c.text, step)
				}
			}
			return err
		})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
