package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// timedStore makes a store of random messages at few random times, some of them
// with ids far from the others or of a session that is gone, and opens it twice:
// once every word counts as common, once none does.
func timedStore(t *testing.T) (walked, looked *store) {
	t.Helper()
	path := timedPath(t)
	return openWith(t, path, Options{}, settings{many: 1}), openWith(t, path, Options{}, settings{many: 1 << 30})
}

func timedPath(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := openWith(t, path, Options{}, settings{})
	for _, id := range []string{"a", "b"} {
		if _, err := db(s).CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "of-" + id}); err != nil {
			t.Fatal(err)
		}
	}
	c := raw(t, path)
	if _, err := c.exec(t.Context(), `PRAGMA foreign_keys = OFF`); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	id := int64(0)
	for i := range 400 {
		if id++; i > 300 && i%20 == 0 {
			id += 1_000_000
		}
		text := randomText(r, 1+r.IntN(6)) + strings.Repeat(" docker", r.IntN(3))
		if i%9 == 0 {
			text = "\x00json:" + fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
		}
		if i%11 == 0 {
			text += " 用docker部署"
		}
		at := float64(i / 5)
		if i%7 == 0 && i < 300 { // those far away are late, so that a walk from the oldest on meets few of them
			at = float64(r.IntN(60))
		}
		if _, err := c.exec(t.Context(), `INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (?, ?, 'user', ?, ?)`,
			id, []string{"a", "b", "gone"}[r.IntN(2+i%2)], text, at); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestWalkByTime compares pages of common words, found by walking the messages,
// with what is found by looking up the time of each hit.
func TestWalkByTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	a, b := timedStore(t)
	walked, looked := sessiondb.New(a, sessiondb.Config{}), sessiondb.New(b, sessiondb.Config{})
	for _, query := range []string{
		"docker", "a", "docker deploy", "docker OR er", `"docker docker"`, "doc*", "docker NOT deploy", "docker source:of-b", "배포", "오류 OR docker", "docker 배",
	} {
		for _, order := range []sessiondb.SearchSort{sessiondb.Newest, sessiondb.Oldest} {
			whole, err := looked.Search(t.Context(), sessiondb.SearchQuery{Text: query, Sort: order, Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			var got []sessiondb.SearchHit
			for {
				page, err := walked.Search(t.Context(), sessiondb.SearchQuery{Text: query, Sort: order, Limit: 17, Offset: len(got)})
				if err != nil {
					t.Fatal(err)
				}
				if len(page.Hits) == 0 {
					break
				}
				got = append(got, page.Hits...)
			}
			if want, have := hitIDs(whole.Hits), hitIDs(got); len(want) == 0 || !slices.Equal(want, have) {
				t.Errorf("%s, %s: walked %v, not %v", query, order, have, want)
			}
		}
	}
}

func hitIDs(hits []sessiondb.SearchHit) (out []int64) {
	for _, h := range hits {
		out = append(out, h.MessageID)
	}
	return out
}

// TestWalkPlan sees that the walk goes along the index of times, and asks the
// other indexes for a range of messages.
func TestWalkPlan(t *testing.T) {
	s, _ := timedStore(t)
	for _, query := range []string{"docker", "docker OR zebra", "doc*"} {
		m := engine.Match{Query: searchql.Parse(query, searchql.Options{}), Order: engine.Newest, Limit: 20}
		err := s.Read(t.Context(), func(q engine.Queryer) error {
			p := &planner{Queryer: q, t: t}
			_, err := s.Match(t.Context(), p, m)
			plan := strings.Join(p.plans, "\n")
			if !strings.Contains(plan, "USING COVERING INDEX "+activityIndex) || !strings.Contains(plan, "VIRTUAL TABLE INDEX 0:M1><") {
				t.Errorf("%q:\n%s", query, plan)
			}
			for _, step := range p.plans {
				if step == "SCAN m" || step == "SCAN messages" || strings.Contains(step, "VIRTUAL TABLE INDEX 0:=") {
					t.Errorf("%q: %s", query, step)
				}
			}
			return err
		})
		if err != nil {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestWalkBack walks messages of which the oldest have the highest ids, with some of
// one time, and compares.
func TestWalkBack(t *testing.T) {
	path := newPath(t)
	walked, looked := openWith(t, path, Options{}, settings{many: 1}), openWith(t, path, Options{}, settings{many: 1 << 30})
	if _, err := db(walked).CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	c := raw(t, path)
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 700 {
		id := 50_000 + i
		switch { // a walk reads 100 messages first
		case i < 100:
			id += 50_000
		case i >= 600:
			id -= 50_000
		}
		text := strings.Repeat("docker ", 1+r.IntN(3)) + []string{"deploy", "er", "b"}[r.IntN(3)]
		if _, err := c.exec(t.Context(), `INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (?, 's', 'user', ?, ?)`, id, text, i/3); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []sessiondb.SearchQuery{{Text: "docker"}, {Text: "docker -deploy"}, {Text: "docker NOT deploy", Substring: true}} {
		for _, q.Sort = range []sessiondb.SearchSort{sessiondb.Newest, sessiondb.Oldest} {
			for _, q.Limit = range []int{-1, 120, 300} {
				want, err := db(looked).Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got, err := db(walked).Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if want, have := hitIDs(want.Hits), hitIDs(got.Hits); len(want) < 100 || !slices.Equal(want, have) {
					t.Errorf("%s, %s: walked %v, not %v", q.Text, q.Sort, have, want)
				}
			}
		}
	}
}
