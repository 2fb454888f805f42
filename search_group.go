package sessiondb

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// GroupedResult is a page of conversations and how the query was read.
type GroupedResult struct {
	Conversations []ConversationHit `json:"conversations"`
	Total         *int64            `json:"total,omitempty"` // hits, not conversations; nil unless asked for
	SearchReading
}

// ConversationHit is a conversation that matches. A chain of sessions that were
// compressed and continued counts as one.
type ConversationHit struct {
	// Best is the hit that the order of the search puts first.
	Best SearchHit `json:"best"`
	// Hits is how many messages of the conversation match. Where there are other
	// pages, those that hold a word only as a part of a longer one may be left out.
	Hits int64 `json:"hits"`
	// RootID and TipID are the ends of the chain; the tip is the session to
	// resume. Both are Best.SessionID where there is no chain.
	RootID string `json:"root_id"`
	TipID  string `json:"tip_id"`
	// Title is that of the tip, or the nearest one before it.
	Title *string `json:"title"`
	// Preview is how the session TipID begins, as in a list, where there is no title.
	Preview string   `json:"preview,omitempty"`
	Tags    []string `json:"tags,omitempty"` // in order
	// View is the surroundings of Best in its session: five messages before and
	// after, and the first and the last three of users and assistants.
	View AnchoredView `json:"view"`
}

// groupView is how much of a conversation a grouped search shows.
var groupView = AnchoredOptions{Window: 5, Bookend: 3, KeepRoles: []string{"user", "assistant"}}

// SearchGrouped finds conversations: one entry for all the hits of one, best
// first. Limit and Offset count conversations; Limit 0 means 10, since each
// brings some of its messages along. ExcludeSessions leaves out the
// whole conversations of those sessions, such as the one that asks.
func (db *DB) SearchGrouped(ctx context.Context, s SearchQuery) (out GroupedResult, err error) {
	defer wrap(&err, "search conversations")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		if s.ExcludeSessions, err = wholeChains(ctx, q, s.ExcludeSessions); err != nil {
			return err
		}
		f, err := db.newFinder(ctx, q, s)
		if err != nil {
			return err
		}
		g := &grouper{finder: f, db: db, roots: map[string]string{}, alone: map[string]alone{}}
		out, err = g.search()
		return err
	})
	return out, err
}

// wholeChains returns sessions and everything that is one conversation with
// them.
func wholeChains(ctx context.Context, q engine.Queryer, ids []string) ([]string, error) {
	var out []string
	for _, id := range ids {
		chain, err := chainIDs(ctx, q, id)
		if err != nil {
			return nil, err
		}
		out = append(append(out, id), chain...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

const groupedLimit = 10

// alone is what a session is known by that continues no other.
type alone struct {
	title  *string
	parent bool // of some session, which may continue it
}

// grouper makes conversations of hits.
type grouper struct {
	*finder
	db    *DB
	roots map[string]string // root by session
	alone map[string]alone  // sessions that continue no other, by id
	tally map[string]int64  // hits by session, nil where they were not counted on the way
}

func (g *grouper) search() (GroupedResult, error) {
	out := GroupedResult{Conversations: []ConversationHit{}, SearchReading: g.reading()}
	if err := g.countInto(&out.Total); err != nil || g.query.Root == nil {
		return out, err
	}
	limit, offset := page(cmp.Or(g.s.Limit, groupedLimit), g.s.Offset)
	best, found, err := g.best(limit, offset)
	if err != nil {
		return out, err
	}
	out.tell(g.request(), found)
	hits, err := g.load(best, false)
	if err != nil {
		return out, err
	}
	if out.Conversations, err = g.conversations(hits); err != nil {
		return out, err
	}
	if len(hits) == 0 && offset == 0 && !g.s.NoSuggestions {
		out.Suggestions, err = g.suggest()
		return out, err
	}
	return out, g.countHits(out.Conversations, len(hits) == limit)
}

// best returns the first hit of each conversation of the page. How many hits
// must be seen for that is not known before: it is tried with few sessions, and
// then with more.
func (g *grouper) best(limit, offset int) (out []engine.Hit, found engine.Matches, err error) {
	// A quarter more than asked for: some sessions continue others.
	sessions := (limit+offset)*5/4 + 2
	if limit == 0 {
		sessions = 0
	}
	for ; ; sessions *= 4 {
		firsts, more, found, err := g.firstHits(sessions)
		if err != nil {
			return nil, found, err
		}
		if err := g.tops(firsts); err != nil {
			return nil, found, err
		}
		out, seen := []engine.Hit{}, map[string]bool{}
		for _, h := range firsts {
			root, err := g.root(h.SessionID)
			if err != nil {
				return nil, found, err
			}
			if !seen[root] {
				seen[root] = true
				out = append(out, h)
			}
		}
		if limit == 0 || !more || len(out) >= limit+offset {
			out = out[min(offset, len(out)):]
			if limit > 0 {
				out = out[:min(limit, len(out))]
			}
			return out, found, nil
		}
	}
}

// firstHits returns the first hit of each session, until there are enough
// sessions; 0 is all of them. More says that there are others.
func (g *grouper) firstHits(enough int) (firsts []engine.Hit, more bool, found engine.Matches, err error) {
	m := g.request()
	m.Tally = true
	seen := map[string]int64{}
	m.Each = func(h engine.Hit) bool {
		if seen[h.SessionID] == 0 {
			if enough > 0 && len(firsts) == enough {
				more = true
				return false
			}
			firsts = append(firsts, h)
		}
		seen[h.SessionID]++
		return true
	}
	found, err = g.match(m)
	if g.tally = found.Counts; !more {
		g.tally = seen
	}
	return firsts, more, found, err
}

// tops notes which sessions of hits continue no other: most of them, so that
// they are asked for together.
func (g *grouper) tops(hits []engine.Hit) error {
	var unknown []string
	for _, h := range hits {
		if _, ok := g.roots[h.SessionID]; !ok {
			unknown = append(unknown, h.SessionID)
		}
	}
	var o odd
	return eachIn(g.ctx, g.q, func(r engine.Rows) error {
		var id string // as it is stored, which need not be UTF-8
		var kind Kind
		var a alone
		err := r.Scan(&id, &kind, nullTextColumn{"", &a.title, &o}, &a.parent)
		if kind != Continuation {
			g.roots[id], g.alone[id] = id, a
		}
		return err
	}, `SELECT c.id, `+kindSQL+`, c.title, EXISTS (SELECT 1 FROM sessions x WHERE x.parent_session_id = c.id)`+withParentSQL+` WHERE c.id IN`, unknown)
}

// root returns the first session of a chain. What was passed on the way is
// remembered, so that a long chain is climbed once, not once for every session
// of it that matches.
func (g *grouper) root(session string) (string, error) {
	if root, ok := g.roots[session]; ok {
		return root, nil
	}
	root := ""
	path, _, err := climb(g.ctx, g.q, session, func(parent string, k Kind) bool {
		if k == Continuation {
			root = g.roots[parent]
		}
		return k == Continuation && root == ""
	})
	if err != nil {
		return "", err
	}
	if root == "" {
		root = path[len(path)-1]
	}
	for _, id := range path {
		g.roots[id] = root
	}
	return root, nil
}

// conversations describes the conversation of each of the best hits.
func (g *grouper) conversations(best []SearchHit) ([]ConversationHit, error) {
	out := make([]ConversationHit, len(best))
	paths, err := g.paths(best)
	if err != nil {
		return nil, err
	}
	titles, err := g.titles(paths)
	if err != nil {
		return nil, err
	}
	tags, err := tagsOf(g.ctx, g.q, slices.Collect(maps.Keys(paths))...)
	if err != nil {
		return nil, err
	}
	surroundings, err := g.surroundings(best)
	if err != nil {
		return nil, err
	}
	for i, hit := range best {
		c := &out[i]
		c.Best, c.RootID = hit, g.roots[hit.SessionID]
		c.TipID, c.Tags = c.RootID, tags[c.RootID]
		for _, n := range paths[c.RootID] {
			c.TipID = n.id
			if t := titles[n.id]; t != nil {
				c.Title = t // that of the tip, or the nearest one before it
			}
		}
		if strings.TrimSpace(deref(c.Title)) == "" {
			if c.Preview, err = preview(g.ctx, g.q, c.TipID); err != nil {
				return nil, err
			}
		}
		c.View = surroundings[i].view
		for _, m := range surroundings[i].near {
			c.Best.Context = append(c.Best.Context, contextMessage(m.Role, m.Content))
		}
	}
	return out, nil
}

// viewedAtOnce is how many hits are surrounded between two looks at the context.
const viewedAtOnce = 50

// surroundings returns what surrounds each of the best hits.
func (g *grouper) surroundings(best []SearchHit) (out []surroundings, err error) {
	for batch := range slices.Chunk(best, viewedAtOnce) {
		if err := g.ended(); err != nil {
			return nil, err
		}
		anchors := make([]anchor, len(batch))
		for i, hit := range batch {
			anchors[i] = anchor{hit.SessionID, hit.MessageID}
		}
		more, err := surround(g.ctx, g.q, anchors, groupView)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// titles returns the titles of all sessions on the paths that have one.
func (g *grouper) titles(paths map[string][]chainNode) (map[string]*string, error) {
	var ids []string
	out := map[string]*string{}
	for root, path := range paths {
		if a, ok := g.alone[root]; ok && len(path) == 1 {
			out[root] = a.title
			continue
		}
		ids = append(ids, idsOf(path)...)
	}
	var o odd
	err := eachIn(g.ctx, g.q, func(r engine.Rows) error {
		var id string // as it is stored, which need not be UTF-8
		var title *string
		err := r.Scan(&id, nullTextColumn{"", &title, &o})
		out[id] = title
		return err
	}, `SELECT s.id, s.title FROM sessions s WHERE s.id IN`, ids)
	return out, err
}

// paths returns the way from the root to the tip of each conversation, by root.
func (g *grouper) paths(best []SearchHit) (map[string][]chainNode, error) {
	var roots []string
	for _, hit := range best {
		roots = append(roots, g.roots[hit.SessionID])
	}
	out := map[string][]chainNode{}
	roots, err := g.parents(roots, out)
	if err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(roots, projectBatch) {
		nodes, err := continuations(g.ctx, g.q, g.db.latest(), batch...)
		if err != nil {
			return nil, err
		}
		for root, chain := range byRoot(nodes) {
			if path := tipPath(root, chain); len(path) > 0 {
				out[root] = path
			}
			for _, n := range chain {
				g.roots[n.id] = root
			}
		}
	}
	return out, nil
}

// parents returns those of roots that are the parent of a session. The others
// are a conversation each, whose only path goes into paths.
func (g *grouper) parents(roots []string, paths map[string][]chainNode) (out []string, err error) {
	var unknown []string
	for _, id := range roots {
		paths[id] = []chainNode{{root: id, id: id}}
		switch a, ok := g.alone[id]; {
		case !ok:
			unknown = append(unknown, id)
		case a.parent:
			out = append(out, id)
		}
	}
	seen := map[string]bool{}
	err = eachIn(g.ctx, g.q, func(r engine.Rows) error {
		var id string
		err := r.Scan(&id)
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
		return err
	}, `SELECT s.parent_session_id FROM sessions s WHERE s.parent_session_id IN`, unknown)
	return out, err
}

// countHits counts the hits of every conversation of a page at once. Where the
// best hits fill the page, those that are hard to find are not looked for.
func (g *grouper) countHits(list []ConversationHit, full bool) error {
	at := map[string]int{}
	for i, c := range list {
		at[c.RootID] = i
	}
	var sessions []string
	for id, root := range g.roots {
		if i, ok := at[root]; ok {
			list[i].Hits += g.tally[id]
			sessions = append(sessions, id)
		}
	}
	if g.tally != nil {
		return nil
	}
	sessions = g.where.among(sessions)
	for len(sessions) > 0 {
		n := min(maxBatch, len(sessions))
		m := g.request()
		m.Sessions, m.Count, m.Rough = sessions[:n], true, full
		found, err := g.match(m)
		if err != nil {
			return err
		}
		for id, hits := range found.Counts {
			list[at[g.roots[id]]].Hits += hits
		}
		sessions = sessions[n:]
	}
	return nil
}
