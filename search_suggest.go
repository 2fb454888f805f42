package sessiondb

import (
	"sort"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// How much work a search that found nothing may make.
const (
	maxCounted  = 8    // terms whose hits are counted one by one
	maxTitles   = 2000 // titles that are compared
	nearEnough  = 0.4  // how much of its trigrams a title shares with the query
	maxNearness = 3    // titles that are suggested
)

// suggest tells what would have matched.
func (f *finder) suggest() ([]SearchSuggestion, error) {
	var out []SearchSuggestion
	if len(f.where.conds) > 0 {
		n, err := f.total(f.query, where{})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			out = append(out, SearchSuggestion{Query: searchql.Query{Root: f.query.Root}.Typed(), Hits: n})
		}
	}
	if len(out) == 0 {
		wider, err := f.dropRarest()
		if err != nil {
			return nil, err
		}
		out = append(out, wider...)
	}
	titles, err := f.nearTitles()
	return append(out, titles...), err
}

func (f *finder) total(q searchql.Query, w where) (n int64, err error) {
	counts, err := f.count(q, w)
	for _, c := range counts {
		n += c
	}
	return n, err
}

// dropRarest leaves out the part of the query that the fewest messages have,
// and the next, until something is found.
func (f *finder) dropRarest() ([]SearchSuggestion, error) {
	and, ok := f.query.Root.(*searchql.And)
	if !ok || len(and.Nodes) < 2 || len(and.Nodes) > maxCounted {
		return nil, nil
	}
	type part struct {
		node searchql.Node
		hits int64
	}
	parts := make([]part, len(and.Nodes))
	for i, n := range and.Nodes {
		hits, err := f.total(searchql.Query{Root: n}, f.where)
		if err != nil {
			return nil, err
		}
		parts[i] = part{n, hits}
	}
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].hits < parts[j].hits })
	for drop := 1; drop < len(parts); drop++ {
		rest := &searchql.And{Not: and.Not}
		for _, n := range and.Nodes {
			for _, p := range parts[drop:] {
				if p.node == n {
					rest.Nodes = append(rest.Nodes, n)
				}
			}
		}
		q := searchql.Query{Root: rest, Filters: f.query.Filters}
		n, err := f.total(q, f.where)
		if err != nil || n > 0 {
			return []SearchSuggestion{{Query: q.Typed(), Hits: n}}, err
		}
	}
	return nil, nil
}

// nearTitles are the sessions whose titles are most like the query.
func (f *finder) nearTitles() ([]SearchSuggestion, error) {
	var typed []string
	for _, t := range f.query.Terms() {
		typed = append(typed, t.Text)
	}
	want := trigrams(strings.Join(typed, " "))
	if len(want) == 0 {
		return nil, nil
	}
	type near struct {
		SearchSuggestion
		score float64
	}
	var all []near
	err := eachRow(f.ctx, f.q, func(r engine.Rows) error {
		var s SearchSuggestion
		if err := r.Scan(&s.SessionID, &s.Title); err != nil {
			return err
		}
		if score := likeness(want, s.Title); score >= nearEnough {
			all = append(all, near{s, score})
		}
		return nil
	}, `SELECT s.id, s.title FROM sessions s WHERE s.title IS NOT NULL ORDER BY s.started_at DESC, s.id DESC LIMIT ?`, maxTitles)
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	var out []SearchSuggestion
	for _, n := range all[:min(len(all), maxNearness)] {
		out = append(out, n.SearchSuggestion)
	}
	return out, err
}

func padded(s string) []rune {
	return []rune(" " + strings.ToLower(strings.Join(strings.Fields(s), " ")) + " ")
}

func trigrams(s string) map[[3]rune]bool {
	r := padded(s)
	out := map[[3]rune]bool{}
	for i := 0; i+3 <= len(r); i++ {
		out[[3]rune(r[i:i+3])] = true
	}
	return out
}

// likeness is how much of the trigrams of the shorter text the other one has.
func likeness(want map[[3]rune]bool, title string) float64 {
	r := padded(title)
	shared := 0
	for i := 0; i+3 <= len(r); i++ {
		if want[[3]rune(r[i:i+3])] {
			shared++
		}
	}
	return min(1, float64(shared)/float64(max(1, min(len(want), len(r)-2))))
}
