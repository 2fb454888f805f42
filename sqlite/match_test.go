package sqlite

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// planner hands queries on and keeps their plans.
type planner struct {
	engine.Queryer
	t     *testing.T
	plans []string
}

func (p *planner) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	p.explain(ctx, query, args)
	return p.Queryer.Query(ctx, query, args...)
}

func (p *planner) QueryRow(ctx context.Context, query string, args ...any) engine.Row {
	p.explain(ctx, query, args)
	return p.Queryer.QueryRow(ctx, query, args...)
}

func (p *planner) explain(ctx context.Context, query string, args []any) {
	rows, err := p.Queryer.Query(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		p.t.Fatalf("%v: %s", err, query)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			p.t.Fatal(err)
		}
		p.plans = append(p.plans, detail)
	}
}

// TestMatchPlans sees that no search reads all messages where an index can
// answer, and that no index is asked for one id after the other.
func TestMatchPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	s, err := openStore(t.Context(), fixture.Copy(t, "hermes-v11.db"), Options{}, settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, query := range []string{
		"docker", "docker network", "docker OR zebra", "docker NOT network", `"docker network" data*`, "大别山项目", "大别", "山", "쀍쒧", "🚀",
		"docker 大别", "大别 大别山项目", "广西 OR docker NOT 桂", "rm -rf", "don't panic", "x", "café",
	} {
		for _, m := range []engine.Match{{}, {Order: engine.Newest}, {Count: true}, {Where: "s.source = 'cli'"}, {Sessions: []string{"a"}, Count: true},
			{Sessions: []string{"a"}}, {Sessions: []string{"a"}, Order: engine.Newest}, {Sessions: make([]string, manySessions), Order: engine.Newest}} {
			m.Query, m.Limit = searchql.Parse(query, searchql.Options{}), 20
			err := s.Read(t.Context(), func(q engine.Queryer) error {
				p := &planner{Queryer: q, t: t}
				_, err := s.Match(t.Context(), p, m)
				for _, step := range p.plans {
					if step == "SCAN m" || step == "SCAN messages" || strings.Contains(step, "VIRTUAL TABLE INDEX 0:=") {
						t.Errorf("%q (order %d, count %v): %s", query, m.Order, m.Count, step)
					}
				}
				return err
			})
			if err != nil {
				t.Errorf("%q: %v", query, err)
			}
		}
	}
}

// TestSnippetLikeFTS5 compares snippets with those of FTS5, for what one index
// answers and what was not stored as JSON.
func TestSnippetLikeFTS5(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	s, err := openStore(t.Context(), fixture.Copy(t, "hermes-v11.db"), Options{}, settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	compared := 0
	for _, query := range []string{"docker", "docker network", "docker OR kubernetes", `"docker network"`, "data*", "memory context", "worker level", "P2.2", "数据库迁移", "데이터베이스", "error OR info"} {
		q := searchql.Parse(query, searchql.Options{})
		var patterns []text.Pattern
		index := wordIndex
		for _, term := range q.Terms() {
			patterns = append(patterns, text.Pattern{Text: term.Text, Fragment: term.Fragment, Prefix: term.Prefix, Touching: touches})
			if term.Fragment {
				index = gramIndex
			}
		}
		err := s.Read(t.Context(), func(r engine.Queryer) error {
			rows, err := r.Query(t.Context(), `SELECT f.content, snippet(`+index+`, 0, '>>>', '<<<', '...', 40) FROM `+index+` f
 WHERE `+index+` MATCH ? AND f.content NOT LIKE '%\%' AND f.content >= char(1)`, strings.ReplaceAll(query, "P2.2", `"P2.2"`))
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var content, want string
				if err := rows.Scan(&content, &want); err != nil {
					return err
				}
				compared++
				if got := text.Snippet(content, patterns); got != want {
					t.Errorf("%q:\n  ours %q\n  FTS5 %q", query, got, want)
				}
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
	}
	if compared < 500 {
		t.Errorf("only %d snippets", compared)
	}
}

// searchIDs runs a search and returns the ids of the hits in order.
func searchIDs(t *testing.T, db *sessiondb.DB, query string) (string, []string) {
	t.Helper()
	r, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: query, Sort: sessiondb.Oldest, Limit: -1})
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	var ids []int64
	for _, h := range r.Hits {
		ids = append(ids, h.MessageID)
	}
	return fmt.Sprint(ids), r.Notices
}

// TestSearchWithoutIndexes finds the same in stores whose indexes are missing,
// cover less, or are damaged.
func TestSearchWithoutIndexes(t *testing.T) {
	queries := []string{"docker network", "terminal", "大别山项目", "山", "广西 NOT 桂林", "py-spy", "data* NOT docker", `"please continue with"`, "🚀"}
	whole, err := Open(t.Context(), fixture.Copy(t, "hermes-v11.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	want := map[string]string{}
	for _, q := range queries {
		want[q], _ = searchIDs(t, whole, q)
	}
	for name, drop := range map[string][]string{
		"no words": {wordIndex}, "no fragments": {gramIndex}, "neither": {wordIndex, gramIndex},
	} {
		t.Run(name, func(t *testing.T) {
			path := withoutIndexes(t, drop)
			db, err := Open(t.Context(), path, Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, q := range queries {
				got, notices := searchIDs(t, db, q)
				if got != want[q] || len(notices) == 0 {
					t.Errorf("%q finds %s, not %s; notices %q", q, got, want[q], notices)
				}
			}
		})
	}
}

// withoutIndexes copies a store and drops indexes.
func withoutIndexes(t *testing.T, drop []string) string {
	t.Helper()
	path := fixture.Copy(t, "hermes-v11.db")
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	for _, index := range drop {
		if err := c.script(t.Context(), "DROP TABLE "+index); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestSearchOtherSchemas searches every store that another program wrote, whole
// or damaged: an answer, never an error of an index.
func TestSearchOtherSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range fixture.Names(t, "fixtures") {
		db, err := Open(t.Context(), fixture.Copy(t, name), Options{ReadOnly: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for query, least := range map[string]int{"docker network": 50, "terminal": 20, "大别山项目": 3, "山": 3, "广西": 4, "py-spy": 3, "read_file": 10} {
			r, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: query, Limit: -1})
			if err != nil || len(r.Hits) < least {
				t.Errorf("%s: %q: %d hits, not %d: %v", name, query, len(r.Hits), least, err)
			}
		}
		_ = db.Close()
	}
}

// TestSearchDamagedIndex overwrites pages of an index: the messages are read
// instead.
func TestSearchDamagedIndex(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{wordIndex, gramIndex} {
		if err := c.script(t.Context(), "UPDATE "+index+"_data SET block = x'ffffffffffffffff' WHERE id > 10"); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.close()
	db, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{"docker network", "大别山项目", "山"} {
		if ids, notices := searchIDs(t, db, query); ids == "[]" || len(notices) == 0 {
			t.Errorf("%q finds %s, notices %q", query, ids, notices)
		}
	}
}

// TestFoldLikeFTS5 compares the words of letters with the word index.
func TestFoldLikeFTS5(t *testing.T) {
	c, err := openConn(t.Context(), filepath.Join(t.TempDir(), "x.db"), access{mode: "rwc"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	if err := c.script(t.Context(), "CREATE VIRTUAL TABLE f USING fts5(x); CREATE VIRTUAL TABLE v USING fts5vocab(f, instance)"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for r := rune(0xa0); r < 0x500; r++ {
		if r < 0x370 || r >= 0x400 {
			fmt.Fprintf(&b, "a%cb ", r)
		}
	}
	if _, err := c.exec(t.Context(), "INSERT INTO f VALUES (?)", b.String()); err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{}
	rows, err := c.query(t.Context(), "SELECT offset, term FROM v")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var at int64
		var term string
		if err := rows.Scan(&at, &term); err != nil {
			t.Fatal(err)
		}
		want[at] = term
	}
	got := map[int64]string{}
	for i, w := range text.Words(b.String()) {
		got[int64(i)] = w.Word
	}
	if !maps.Equal(want, got) {
		for _, i := range slices.Sorted(maps.Keys(want)) {
			if want[i] != got[i] {
				t.Fatalf("word %d is %q, not %q", i, got[i], want[i])
			}
		}
	}
}
