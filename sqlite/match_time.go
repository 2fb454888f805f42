package sqlite

import (
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// common is how many hits make it cheaper to walk all messages by time than to
// look up the time of each hit.
const common = 2000

// byTime delivers by time; hits of one time by rank.
func (r *matching) byTime(p *matchPlan) error {
	dir := ` DESC`
	if r.m.Order == engine.Oldest {
		dir = ``
	}
	order := ` ORDER BY m.timestamp` + dir + `, m.id`
	walk, err := r.walks(p)
	if err != nil {
		return err
	}
	if walk {
		return r.walk(p, order)
	}
	if err := p.complete(); err != nil {
		return err
	}
	return r.inOrder(p, `SELECT m.id, m.session_id, m.timestamp FROM (`+p.all.sql+`)`+fromHits+` WHERE 1`+r.where()+order)
}

// walks says that so many messages match that those of a page are found on a walk.
func (r *matching) walks(p *matchPlan) (bool, error) {
	if !r.store.activity.Load() || r.few.listed() {
		return false, nil
	}
	if p.index == "" {
		if err := p.c.narrowToRare(p.root); err != nil || p.c.within.listed() {
			return false, err
		}
	}
	return r.moreThan(p.atLeast(), r.store.many)
}

// atLeast is a query for some ids that match, which is cheap: what the indexes alone
// find, without what an exclusion spares again.
func (p *matchPlan) atLeast() fragment {
	if p.index != "" {
		return fragment{matchSQL(p.index), []any{p.expr}}
	}
	return p.c.set(strict(p.root))
}

// strict is a tree that excludes whatever another one excludes, and what that spares.
func strict(n searchql.Node) searchql.Node {
	and, ok := n.(*searchql.And)
	if !ok {
		return n
	}
	out := &searchql.And{Nodes: and.Nodes}
	for _, k := range and.Not {
		if spared, ok := k.(*searchql.And); ok {
			k = &searchql.And{Nodes: spared.Nodes}
		}
		out.Not = append(out.Not, k)
	}
	return out
}

func (r *matching) moreThan(set fragment, n int) (bool, error) {
	found, err := r.atMost(set, n+1)
	return found > n, err
}

// atMost is how many rows a query has, or most where those are more.
func (r *matching) atMost(set fragment, most int) (n int, err error) {
	err = r.q.QueryRow(r.ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM (`+set.sql+`) LIMIT ?)`, join(set.args, []any{most})...).Scan(&n)
	return n, err
}

// inOrder delivers the rows (id, session_id, timestamp) of a query over p.all.
func (r *matching) inOrder(p *matchPlan, query string) error {
	rows, err := r.q.Query(r.ctx, query, join(p.all.args, r.whereArgs())...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	ties := ties{r: r, p: p}
	for !r.done && rows.Next() {
		h, at, err := scanTimed(rows)
		if err == nil {
			err = ties.add(h, at)
		}
		if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return ties.deliver()
}

func scanTimed(rows engine.Rows) (h engine.Hit, at any, err error) {
	err = rows.Scan(&h.MessageID, &h.SessionID, &at)
	if b, ok := at.([]byte); ok {
		at = blob(b) // which can be compared
	}
	return h, at, err
}

// blob is a timestamp that is none.
type blob string

// timed is a message on the way through all of them by time.
type timed struct {
	engine.Hit
	at any
}

// How many messages the walk looks at together: few at first, since where
// something is common a few hold a page of hits, then more. Where their ids lie
// far apart, as after an import of old sessions, it costs less to find all hits
// once than to look through such a range for each part.
const (
	firstPart = 100
	lastPart  = 6400
	farApart  = 64
)

// walk delivers what is so common that a page of it is found among few
// messages: it goes through the messages by time, and asks for some of them at a
// time which are hits.
func (r *matching) walk(p *matchPlan, order string) error {
	from, cond := `messages m`, r.where()
	if cond != `` {
		from += ` CROSS JOIN sessions s ON s.id = m.session_id`
	}
	rows, err := r.q.Query(r.ctx, `SELECT m.id, m.session_id, m.timestamp FROM `+from+` WHERE 1`+cond+order, r.whereArgs()...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	ties := ties{r: r, p: p}
	w := walker{matching: r, plan: p, found: map[*searchql.Term]*idStream{}, fragments: map[*searchql.Term]*idStream{}}
	defer w.close()
	if err := w.open(); err != nil {
		return err
	}
	for size := firstPart; !r.done; size = min(2*size, lastPart) {
		part, err := nextPart(rows, size)
		if err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
		hits, err := w.hitsOf(part, cond == ``)
		for _, m := range hits {
			if err == nil && !r.done {
				err = ties.add(m.Hit, m.at)
			}
		}
		if err != nil {
			return err
		}
	}
	return ties.deliver()
}

// hitsOf returns the hits among some messages, in their order. Whether there is a
// session of a message is looked up here for few, where no condition asked it of all.
func (w *walker) hitsOf(part []timed, lookup bool) ([]timed, error) {
	ids, err := w.hitsIn(part)
	if err != nil {
		return nil, err
	}
	hits := slices.DeleteFunc(part, func(m timed) bool { return !ids[m.MessageID] })
	if len(hits) == 0 || !lookup {
		return hits, nil
	}
	list := listed(messageIDs(hits))
	whole, err := w.ids(fragment{`SELECT m.id FROM (` + list.sql + `)` + fromHits, list.args})
	return slices.DeleteFunc(hits, func(m timed) bool { return !whole[m.MessageID] }), err
}

func messageIDs(list []timed) []int64 {
	out := make([]int64, len(list))
	for i, m := range list {
		out[i] = m.MessageID
	}
	return out
}

func nextPart(rows engine.Rows, size int) (part []timed, err error) {
	for len(part) < size && rows.Next() {
		h, at, err := scanTimed(rows)
		if err != nil {
			return nil, err
		}
		part = append(part, timed{h, at})
	}
	return part, rows.Err()
}

// walker finds the hits of a walk.
type walker struct {
	*matching
	plan  *matchPlan
	found map[*searchql.Term]*idStream // by the first source of each
	// fragments is what the index of fragments finds of the terms, as it is asked for.
	fragments map[*searchql.Term]*idStream
	all       map[int64]bool // every hit, once they were all looked for
}

// hitsIn returns the ids of the hits among some messages, and maybe others.
func (w *walker) hitsIn(part []timed) (map[int64]bool, error) {
	if w.all != nil {
		return w.all, nil
	}
	ids := idRange{part[0].MessageID, part[0].MessageID}
	for _, m := range part {
		ids.first, ids.last = min(ids.first, m.MessageID), max(ids.last, m.MessageID)
	}
	if ids.last-ids.first > int64(farApart*len(part)) {
		if err := w.plan.complete(); err != nil {
			return nil, err
		}
		var err error
		w.all, err = w.ids(w.plan.all)
		return w.all, err
	}
	root := w.m.Query.Root
	c := &compiler{matching: w.matching, terms: map[*searchql.Term]*termPlan{}, within: &idSet{idRange: ids}, known: map[*searchql.Term]source{}}
	c.candidates = func(t *searchql.Term) ([]int64, error) { return w.candidates(t, part, ids) }
	for t, found := range w.found {
		if err := w.readTo(found, ids); err != nil {
			return nil, err
		}
		c.known[t] = source{query: listed(found.among(part))}
	}
	err := c.addPrimary(root)
	if err == nil && w.plan.extra {
		err = c.addExtras(root)
	}
	if err != nil {
		return nil, err
	}
	return w.ids(c.set(root))
}

// ids returns the ids of a set.
func (r *matching) ids(set fragment) (map[int64]bool, error) {
	rows, err := r.q.Query(r.ctx, set.sql, set.args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out[id] = true
	}
	return out, rows.Err()
}
