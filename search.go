package sessiondb

import (
	"context"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// SearchSort is the order of hits.
type SearchSort string

// The orders of hits. Hits of equal time go by rank, and what is equal in both
// by message id, so that pages neither repeat nor skip.
const (
	ByRank SearchSort = ""
	Newest SearchSort = "newest"
	Oldest SearchSort = "oldest"
)

// SearchQuery is a search over messages. Empty fields do not filter.
type SearchQuery struct {
	// Text is what was typed, in the language of docs/search.md. Any string
	// can be searched for; none is an error.
	Text string
	// Substring finds the words of Text anywhere, inside other words too.
	Substring bool

	Sources         []string // an empty list that is not nil finds nothing
	ExcludeSources  []string
	Roles           []string
	Tags            []string // only in conversations that have all of these
	Sessions        []string
	ExcludeSessions []string // in a grouped search, the whole conversations of these

	// Sort is read without regard to case and surrounding space; what is no
	// known order is by rank.
	Sort SearchSort
	// MaxRanked, if it is not 0, bounds what a search by rank costs: where more
	// messages than that have the words of Text, whatever the filters, the newest
	// come first, and the answer says so.
	MaxRanked int

	Limit      int // 0 means 20, negative no limit
	Offset     int
	CountTotal bool // count all hits, not only those of the page

	// NoSuggestions leaves out what would have matched, which may take longer
	// than the search that found nothing: for a search while one types.
	NoSuggestions bool
}

// SearchResult is a page of hits and how the query was read.
type SearchResult struct {
	Hits  []SearchHit `json:"hits"`
	Total *int64      `json:"total,omitempty"` // nil unless asked for
	SearchReading
}

// SearchReading tells how a query was read.
type SearchReading struct {
	// Understood is the query as it was read, in one line; empty when there was
	// nothing to search for.
	Understood string `json:"understood"`
	// Notices are sentences about what was left out of the query, or could not
	// be searched as it should be.
	Notices []string `json:"notices,omitempty"`
	// Suggestions tell what would have matched. Only a search that found
	// nothing has any.
	Suggestions []SearchSuggestion `json:"suggestions,omitempty"`
	// NewestFirst says that more than MaxRanked messages match, and that the newest
	// come first for that.
	NewestFirst bool `json:"newest_first,omitempty"`
}

// SearchSuggestion is another query that finds something, or a session whose
// title is near to what was typed.
type SearchSuggestion struct {
	Query     string `json:"query,omitempty"`
	Hits      int64  `json:"hits,omitempty"` // how many messages Query finds
	Title     string `json:"title,omitempty"`
	SessionID string `json:"session_id,omitempty"`
}

// ContextMessage is a neighbour of a hit, cut to 200 characters.
type ContextMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// SearchHit is a message that matches, with its neighbours.
type SearchHit struct {
	MessageID      int64
	SessionID      string
	Role           string
	Snippet        string // one match or more between >>> and <<<
	Timestamp      time.Time
	ToolName       *string
	Source         string
	Model          *string
	SessionStarted time.Time
	Context        []ContextMessage // the message before, the hit, the one after
}

// Search finds messages. Nothing typed is an error; a query without a term
// finds nothing and says so in its notices.
func (db *DB) Search(ctx context.Context, s SearchQuery) (out SearchResult, err error) {
	defer wrap(&err, "search")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		f, err := db.newFinder(ctx, q, s)
		if err != nil {
			return err
		}
		out, err = f.search()
		return err
	})
	return out, err
}

// finder is one search being made.
type finder struct {
	ctx   context.Context // never done: see newFinder
	ended func() error    // says that the caller's context is done
	q     engine.Queryer
	match func(engine.Match) (engine.Matches, error)
	s     SearchQuery
	query searchql.Query
	where where
}

// newFinder makes the finder of a search. Matching ends as soon as ctx is done;
// what reads the few rows of a page looks in between, since a statement that
// watches a context costs more than such rows do.
func (db *DB) newFinder(ctx context.Context, q engine.Queryer, s SearchQuery) (*finder, error) {
	f := &finder{ctx: context.WithoutCancel(ctx), ended: ctx.Err, q: q, s: s,
		query: searchql.Parse(s.Text, searchql.Options{Now: db.now(), Substring: s.Substring})}
	f.match = func(m engine.Match) (engine.Matches, error) {
		found, err := db.engine.Match(ctx, q, m)
		if err == nil && found.Unreadable > 0 && db.tellDamage != nil {
			db.tellDamage(&DamageError{Tables: []string{"messages"}, cause: ErrCorrupt})
		}
		return found, err
	}
	var err error
	if f.query.Root != nil {
		f.where, err = searchWhere(f.ctx, q, s, f.query.Filters)
	}
	return f, err
}

// request is what the engine is asked for.
func (f *finder) request() engine.Match {
	m := f.where.limit(engine.Match{Query: f.query, MaxRanked: max(0, f.s.MaxRanked)})
	switch SearchSort(strings.ToLower(strings.TrimSpace(string(f.s.Sort)))) {
	case Newest:
		m.Order = engine.Newest
	case Oldest:
		m.Order = engine.Oldest
	}
	return m
}

func (f *finder) search() (SearchResult, error) {
	out := SearchResult{Hits: []SearchHit{}, SearchReading: f.reading()}
	if f.query.Root == nil {
		return out, f.countInto(&out.Total)
	}
	m := f.request()
	m.Limit, m.Offset = page(f.s.Limit, f.s.Offset)
	found, err := f.match(m)
	if err != nil {
		return out, err
	}
	out.tell(m, found)
	if out.Hits, err = f.load(found.Hits, true); err != nil {
		return out, err
	}
	if err := f.countInto(&out.Total); err != nil {
		return out, err
	}
	if len(out.Hits) == 0 && m.Offset == 0 && !f.s.NoSuggestions {
		out.Suggestions, err = f.suggest()
	}
	return out, err
}

func (f *finder) reading() SearchReading {
	return SearchReading{Understood: f.query.String(), Notices: f.query.Notices}
}

// tell adds how the search was made to how it was read.
func (r *SearchReading) tell(asked engine.Match, found engine.Matches) {
	r.Notices = append(r.Notices, found.Notices...)
	r.NewestFirst = asked.Order == engine.ByRank && found.Order == engine.Newest
}

// countInto counts all hits, if that was asked for.
func (f *finder) countInto(total **int64) error {
	if !f.s.CountTotal {
		return nil
	}
	counts, err := f.count(f.query, f.where)
	var n int64
	for _, c := range counts {
		n += c
	}
	*total = &n
	return err
}

// count returns the number of hits by session.
func (f *finder) count(query searchql.Query, w where) (map[string]int64, error) {
	if query.Root == nil {
		return nil, nil
	}
	found, err := f.match(w.limit(engine.Match{Query: query, Count: true}))
	return found.Counts, err
}
