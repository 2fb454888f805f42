package sqlite

import (
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// byRanks delivers what no index answers alone, by what each of them says of it.
func (r *matching) byRanks(p *matchPlan) error {
	if err := r.bestFirst(p); err != nil || r.done {
		return err
	}
	return r.allByRanks(p)
}

// allByRanks looks for all hits, and delivers them.
func (r *matching) allByRanks(p *matchPlan) error {
	if err := p.complete(); err != nil {
		return err
	}
	if p.c.within.listed() { // what matches may lie nearer together
		hits, err := r.listIDs(p.all, p.c.within.n)
		if err != nil || hits != nil && hits.n == 0 {
			return err
		}
		if hits != nil {
			p.all, p.c.within = hits.all(), hits
		}
	}
	ranks := p.c.ranks(p.root)
	return r.stream(`WITH hits AS MATERIALIZED (`+p.all.sql+`)
SELECT m.id, m.session_id, h.rank FROM (SELECT id, SUM(rank) AS rank FROM (`+ranks.sql+`) GROUP BY id)`+fromHits+
		` WHERE 1`+r.where()+` ORDER BY h.rank, m.id DESC`, join(p.all.args, ranks.args, r.whereArgs())...)
}

// excludedOf is how many of the best are looked at for each that is wanted, since some
// may be excluded.
const excludedOf = 8

// bestFirst delivers the first hits where one index ranks them all: most of its best
// match, which is seen of them alone. Where they are not enough, all hits are looked
// for, and those come again.
func (r *matching) bestFirst(p *matchPlan) error {
	index, expr, ok := p.c.ranking(p.root)
	if !ok || r.where() != "" {
		return nil
	}
	best, err := r.best(&matchPlan{index: index, expr: expr, newestTies: true}, excludedOf*r.wanted())
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(best, lookedUp) {
		if batch, err = r.verified(batch); err != nil {
			return err
		}
		if err := r.deliverBatch(batch); err != nil || r.done {
			return err
		}
	}
	r.again = r.skipped + r.taken
	return nil
}

// ranking is an expression for an index that ranks what a tree matches as all that
// know a term of it do, and finds little else: any of what is looked for, or all of it.
func (c *compiler) ranking(root searchql.Node) (index, expr string, ok bool) {
	and, all := root.(*searchql.And)
	if all {
		if slices.ContainsFunc(and.Nodes, func(n searchql.Node) bool { return !flat(n) }) {
			return "", "", false
		}
		return c.exprOf(and.Nodes, " AND ")
	}
	exprs := c.rankedBy(root)
	for index, expr = range exprs {
		ok = len(exprs) == 1
	}
	return index, expr, ok
}

// flat says that a tree is a term or any of some: of another one FTS5 leaves out of the
// rank what is part of an alternative that does not match.
func flat(n searchql.Node) bool {
	if or, ok := n.(*searchql.Or); ok {
		return !slices.ContainsFunc(or.Nodes, func(k searchql.Node) bool { return !flat(k) })
	}
	_, ok := n.(*searchql.Term)
	return ok
}

// verified returns those of a few hits that match the whole query.
func (r *matching) verified(batch []engine.Hit) ([]engine.Hit, error) {
	ids := make([]int64, len(batch))
	for i, h := range batch {
		ids[i] = h.MessageID
	}
	slices.Sort(ids)
	within, err := r.listIDs(listed(ids), len(ids))
	if err != nil {
		return nil, err
	}
	c := &compiler{matching: r, terms: map[*searchql.Term]*termPlan{}, within: within, ranked: true}
	p := &matchPlan{c: c, root: r.m.Query.Root}
	if err := c.addPrimary(p.root); err != nil {
		return nil, err
	}
	if err := p.complete(); err != nil {
		return nil, err
	}
	hits, err := r.ids(p.all)
	return slices.DeleteFunc(batch, func(h engine.Hit) bool { return !hits[h.MessageID] }), err
}
