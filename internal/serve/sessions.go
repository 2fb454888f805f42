package serve

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/sessiondb-go/sessiondb"
)

const (
	listPage   = 50 // sessions on a page
	searchPage = 20 // conversations on a page of hits
	maxOffset  = 1 << 30
	maxRanked  = 30_000 // messages that are ranked in the time for a key that is pressed
)

// listing is the page of sessions: a list, or what a search found.
type listing struct {
	Query, Source, Order string
	Sources              []string
	tagFilter
	Sessions     []sessiondb.ListedSession
	Found        *sessiondb.GroupedResult // nil for a list
	Offset       int
	Newer, Older string // links to the pages beside it
	MaxRanked    int    // where more messages match, the newest come first
	Ranked       string // link to the hits by rank, where that is so
	Typing       bool   // the last word may not be finished
	found        string // the order of the hits
}

// Live says whether new sessions belong at the top of the page.
func (l *listing) Live() bool { return l.Found == nil && l.Offset == 0 }

// values is the query without the page. A page of hits goes on in the order of the
// one before, even when the store has grown.
func (l *listing) values() url.Values {
	q := url.Values{}
	if l.Typing {
		q.Set("typing", "1")
	}
	if len(l.Tags) > 0 {
		q["tag"] = l.Tags
	}
	for k, v := range map[string]string{"q": l.Query, "source": l.Source, "order": cmp.Or(l.found, l.Order)} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return q
}

func (l *listing) link(offset int) string {
	q := l.values()
	if offset > 0 {
		q.Set("offset", strconv.Itoa(offset))
	}
	return pathAndQuery("/", q)
}

// Text is what to search for.
func (l *listing) Text() string {
	if l.Typing {
		return sessiondb.UnfinishedQuery(l.Query)
	}
	return l.Query
}

// asList is the list that is asked for, also by a query of nothing but filters;
// false where it is a search.
func (l *listing) asList() (f sessiondb.ListFilter, ok bool) {
	if l.Text() != "" {
		f, ok = sessiondb.ListQuery(l.Query)
		if !ok || f.Source != "" && l.Source != "" && f.Source != l.Source {
			return f, false
		}
	}
	f.Source, f.Tags = cmp.Or(f.Source, l.Source), append(f.Tags, l.Tags...)
	f.ByLastActive, f.Limit, f.Offset = l.Order != "start", listPage+1, l.Offset
	return f, true
}

// sessions shows the sessions, or what a search found among them. With part=list
// only that is sent.
func (s *server) sessions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l := &listing{Query: q.Get("q"), Source: q.Get("source"), Order: q.Get("order"), Typing: q.Get("typing") != "", tagFilter: tagFilter{Tags: givenTags(q["tag"])}}
	if n, err := strconv.Atoi(q.Get("offset")); err == nil {
		l.Offset = max(0, min(n, maxOffset))
	}
	var err error
	if f, ok := l.asList(); ok {
		err = s.list(r.Context(), l, f)
	} else {
		err = s.find(r.Context(), l)
	}
	if err == nil && q.Get("part") == "list" {
		s.page(w, http.StatusOK, "list", view{Data: l})
		return
	}
	if err == nil {
		l.Sources, err = sourceNames(r.Context(), s.db, l.Source)
	}
	if err == nil {
		err = l.offer(r.Context(), s.db)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "sessions", view{Title: "Sessions", Nav: "sessions", Query: l.Query, Data: l})
}

func (s *server) list(ctx context.Context, l *listing, f sessiondb.ListFilter) (err error) {
	if l.Sessions, err = s.db.Sessions(ctx, f); err == nil {
		l.Sessions = l.turn(l.Sessions, listPage)
	}
	return err
}

func (s *server) find(ctx context.Context, l *listing) error {
	f := sessiondb.SearchQuery{Text: l.Text(), Tags: l.Tags, Limit: searchPage + 1, Offset: l.Offset, NoSuggestions: l.Typing}
	if l.Source != "" {
		f.Sources = []string{l.Source}
	}
	switch l.Order {
	case "newest":
		f.Sort = sessiondb.Newest
	case "oldest":
		f.Sort = sessiondb.Oldest
	case byRank:
	default:
		l.Order, l.MaxRanked = "", s.ranked
	}
	f.MaxRanked = l.MaxRanked
	found, err := s.db.SearchGrouped(ctx, f)
	if err != nil {
		return err
	}
	l.inOrder(found.NewestFirst)
	if len(found.Conversations) > searchPage {
		found.Conversations = found.Conversations[:searchPage]
		l.Older = l.link(l.Offset + searchPage)
	}
	l.back(searchPage)
	l.Found = &found
	return nil
}

// byRank asks for the best hits first also where very many messages match.
const byRank = "rank"

// inOrder notes the order of the hits.
func (l *listing) inOrder(newestFirst bool) {
	l.found = cmp.Or(l.Order, byRank)
	if newestFirst {
		l.Ranked = l.link(0)
		l.found = "newest"
	}
}

// turn cuts what was read one entry too long and sets the links.
func (l *listing) turn(found []sessiondb.ListedSession, page int) []sessiondb.ListedSession {
	l.back(page)
	if len(found) <= page {
		return found
	}
	l.Older = l.link(l.Offset + page)
	return found[:page]
}

func (l *listing) back(page int) {
	if l.Offset > 0 {
		l.Newer = l.link(max(0, l.Offset-page))
	}
}

// sourceNames are the sources, the one with the most sessions first, and the chosen one.
func sourceNames(ctx context.Context, db *sessiondb.DB, chosen string) ([]string, error) {
	all, err := db.Sources(ctx)
	var names []string
	for _, s := range all {
		if s.Source != "" {
			names = append(names, s.Source)
		}
	}
	if chosen != "" && !slices.Contains(names, chosen) {
		names = append(names, chosen)
	}
	return names, err
}
