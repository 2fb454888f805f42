package sessiondb

import (
	"sort"
	"strings"
	"unicode"

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
	if f.where.narrows() {
		n, err := f.total(searchql.Query{Root: f.query.Root}, where{})
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
	want := newLikeness(strings.Join(typed, " "))
	if len(want.trigrams) == 0 {
		return nil, nil
	}
	if some, err := f.anyTitleNear(want); err != nil || !some {
		return nil, err
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
		if score := want.of(s.Title); score >= nearEnough {
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

// anyTitleNear reads the titles alone, which takes a fraction of the time of
// reading whose they are. Where there are too many to be compared it says yes.
func (f *finder) anyTitleNear(want *likeness) (some bool, err error) {
	titles := 0
	err = eachRow(f.ctx, f.q, func(r engine.Rows) error {
		var title string
		if err := r.Scan(&title); err != nil {
			return err
		}
		titles++
		some = some || want.of(title) >= nearEnough
		return nil
	}, `SELECT s.title FROM sessions s WHERE s.title IS NOT NULL LIMIT ?`, maxTitles+1)
	return some || titles > maxTitles, err
}

// likeness compares titles with a text by their trigrams.
type likeness struct {
	trigrams map[[3]rune]bool
	middles  [256]bool // the last byte of the middle of each: most others are told by it
	runes    []rune    // reused
}

func newLikeness(s string) *likeness {
	l := &likeness{trigrams: map[[3]rune]bool{}}
	r := l.padded(s)
	for i := 0; i+3 <= len(r); i++ {
		l.trigrams[[3]rune(r[i:i+3])] = true
		l.middles[r[i+1]&0xff] = true
	}
	return l
}

// padded is a text in lower case with one space between words and at the ends,
// until the next call.
func (l *likeness) padded(s string) []rune {
	out := append(l.runes[:0], ' ')
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r != ' ' || out[len(out)-1] != ' ' {
			out = append(out, unicode.ToLower(r))
		}
	}
	if out[len(out)-1] != ' ' || len(out) == 1 {
		out = append(out, ' ')
	}
	l.runes = out
	return out
}

// of is how much of the trigrams of the shorter text the other one has.
func (l *likeness) of(title string) float64 {
	r := l.padded(title)
	shared := 0
	for i := 0; i+3 <= len(r); i++ {
		if l.middles[r[i+1]&0xff] && l.trigrams[[3]rune(r[i:i+3])] {
			shared++
		}
	}
	return min(1, float64(shared)/float64(max(1, min(len(l.trigrams), len(r)-2))))
}
