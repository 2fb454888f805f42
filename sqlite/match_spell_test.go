package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// TestSpelledOut compares what is found by time, where an unfinished word stands for
// the words that begin so, with what FTS5 finds of it.
func TestSpelledOut(t *testing.T) {
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{}, settings{many: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	db := sessiondb.New(s, sessiondb.Config{})
	if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	texts := []string{"deploy", "deploy deployed", "Déployer", "DEPLOYMENT", "dep", "用deploy部署", "redeploy", "de ploy", "the deployer many003"}
	for i := range 80 {
		texts = append(texts, fmt.Sprintf("many%03d deploy%d", i, i%3))
	}
	for _, text := range texts {
		if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Content: sessiondb.Text(text)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query   string
		found   int
		spelled bool
	}{
		{"depl*", 86, true}, {"DÉPL*", 85, true}, {"deploye*", 3, true}, {"d*", 88, true}, {"many*", 81, false}, {"many00*", 11, true},
		{"zebra*", 0, false}, {"depl* many00*", 11, true}, {"deploy* NOT many*", 5, true}, {`"many003 dep"*`, 1, false},
	} {
		var ids [2][]int64
		for i, order := range []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest} {
			r, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: c.query, Sort: order, Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = hitIDs(r.Hits)
			slices.Sort(ids[i])
		}
		if len(ids[0]) != c.found || !slices.Equal(ids[0], ids[1]) {
			t.Errorf("%s: %d by rank, not %d: %v; by time %v", c.query, len(ids[0]), c.found, ids[0], ids[1])
		}
		if expr := timeExpr(t, s, c.query); strings.Contains(expr, " OR ") != c.spelled {
			t.Errorf("%s is looked for as %s", c.query, expr)
		}
	}
}

// timeExpr is the expression for an index with which a query is answered by time.
func timeExpr(t *testing.T, s *store, query string) (expr string) {
	t.Helper()
	err := s.Read(t.Context(), func(q engine.Queryer) error {
		ix, err := s.textIndexes(t.Context(), q)
		if err != nil {
			return err
		}
		m := engine.Match{Query: searchql.Parse(query, searchql.Options{}), Order: engine.Newest}
		r := &matching{ctx: t.Context(), quick: t.Context(), q: q, m: m, store: s, indexes: ix}
		c := &compiler{matching: r, terms: map[*searchql.Term]*termPlan{}}
		err = c.addPrimary(m.Query.Root)
		_, expr, _ = c.expr(m.Query.Root)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return expr
}
