package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
)

// found is a search to measure beside the documented way to do it.
type found struct {
	name  string
	query sessiondb.SearchQuery
	how   string // the documented way: words or scan
	kind  kind
	limit float64
}

var searches = []found{
	{"Two words, 20 hits with context, by rank", sessiondb.SearchQuery{Text: corpus.TwoWords}, "words", ratioAtMost, 0.6},
	{"A very common word, by rank", sessiondb.SearchQuery{Text: corpus.CommonWord}, "words", ratioAtMost, 1},
	{"A very common word, newest", sessiondb.SearchQuery{Text: corpus.CommonWord, Sort: sessiondb.Newest}, "words", timesFaster, 5},
	{"A very common word in one session, by rank", sessiondb.SearchQuery{Text: corpus.CommonWord, Sessions: []string{corpus.LongSession}}, "words", noTarget, 0},
	{"A very common word in one session, newest", sessiondb.SearchQuery{Text: corpus.CommonWord, Sessions: []string{corpus.LongSession}, Sort: sessiondb.Newest}, "words", noTarget, 0},
	{"A common word without another, newest", sessiondb.SearchQuery{Text: corpus.WithoutCommon, Sort: sessiondb.Newest}, "words", noTarget, 0},
	{"Two CJK characters, no match", sessiondb.SearchQuery{Text: corpus.CJKNone}, "scan", timesFaster, 10},
	{"Two CJK characters, many matches", sessiondb.SearchQuery{Text: corpus.CJKMany}, "scan", timesFaster, 10},
	{"One CJK character, many matches", sessiondb.SearchQuery{Text: corpus.CJKManyOne}, "scan", timesFaster, 10},
}

func (e *env) searchRows() []row {
	var rows []row
	for _, z := range []corpus.Size{e.Small, e.Large} {
		for _, f := range searches {
			rows = append(rows, e.searchRow(f, z))
		}
		rows = append(rows, e.groupedRow(z))
	}
	return append(rows, e.searchProcessRow())
}

func (e *env) searchRow(f found, z corpus.Size) row {
	ours := func(ctx context.Context) (outcome, error) {
		db, err := e.store(ctx, z.Name)
		if err != nil {
			return outcome{}, err
		}
		var n int
		s, err := timed(3, func() error {
			r, err := db.Search(ctx, f.query)
			n = len(r.Hits)
			return err
		})
		o := seconds(s)
		o.answer = fmt.Sprint(n, " hits")
		return o, err
	}
	order := "rank"
	if f.query.Sort != sessiondb.ByRank {
		order = string(f.query.Sort)
	}
	documented := strings.Replace(f.query.Text, " -", " NOT ", 1)
	session := strings.Join(f.query.Sessions, "") // one at most
	base := func(context.Context) (outcome, error) {
		a, err := e.python.do(map[string]any{
			"op": "search", "store": e.stores[z.Name], "query": documented, "session": session, "how": f.how, "order": order, "limit": 20,
		})
		o := seconds(a.Seconds)
		o.answer = fmt.Sprint(a.N, " hits")
		return o, err
	}
	return row{
		name: f.name, data: describe(z),
		sides:  []side{{"ours", ours}, {"python", base}},
		checks: []check{{"", "ours.s", "python.s", inSeconds, f.kind, f.limit}},
	}
}

// groupedRow measures the grouped search against the plain one.
func (e *env) groupedRow(z corpus.Size) row {
	each := func(search func(context.Context, *sessiondb.DB) error) func(context.Context) (outcome, error) {
		return func(ctx context.Context) (outcome, error) {
			db, err := e.store(ctx, z.Name)
			if err != nil {
				return outcome{}, err
			}
			s, err := timed(3, func() error { return search(ctx, db) })
			return seconds(s), err
		}
	}
	return row{
		name: "Grouped search, first page, against plain", data: describe(z),
		sides: []side{
			{"ours", each(func(ctx context.Context, db *sessiondb.DB) error {
				_, err := db.SearchGrouped(ctx, sessiondb.SearchQuery{Text: corpus.TwoWords})
				return err
			})},
			{"plain", each(func(ctx context.Context, db *sessiondb.DB) error {
				_, err := db.Search(ctx, sessiondb.SearchQuery{Text: corpus.TwoWords})
				return err
			})},
		},
		checks: []check{{"", "ours.s", "plain.s", inSeconds, ratioAtMost, 2}},
	}
}

func (e *env) searchProcessRow() row {
	ours := func(ctx context.Context) (outcome, error) {
		s, err := spawn(ctx, false, e.binary, "search", "--json", "--db", e.stores[e.Large.Name], corpus.TwoWords)
		return seconds(s.wall), err
	}
	return row{
		name: "`sessiondb search --json`, a process, two words", data: describe(e.Large),
		sides:  []side{{"ours", ours}},
		checks: []check{{"", "ours.s", "", inSeconds, atMost, 0.060}},
	}
}
