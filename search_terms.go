package sessiondb

import (
	"cmp"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// Terms are what a query looks for: its words, phrases and fragments, without what it
// excludes and its filters. The zero value finds nothing.
type Terms struct{ patterns []text.Pattern }

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// QueryTerms reads the terms of a query. Any string is one.
func QueryTerms(query string) Terms { return termsOf(searchql.Parse(query, searchql.Options{})) }

func termsOf(query searchql.Query) (out Terms) {
	for _, t := range query.Terms() {
		out.patterns = append(out.patterns, text.Pattern{Text: t.Text, Fragment: t.Fragment, Prefix: t.Prefix,
			Touching: func(r rune) bool { return searchql.Unspaced(r) || searchql.Emoji(r) }})
	}
	return out
}

// None says that there is nothing to look for.
func (t Terms) None() bool { return len(t.patterns) == 0 }

// Find returns where a text has the terms, any of them, as a search finds them and
// marks them in a snippet: in order, what overlaps as one.
func (t Terms) Find(s string) (out []Span) {
	if t.None() {
		return nil
	}
	words := text.Words(s)
	for _, p := range t.patterns {
		for _, at := range p.Find(s, words) {
			out = append(out, Span(at))
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return joined(out)
}

// joined makes one of spans that overlap.
func joined(spans []Span) []Span {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}
