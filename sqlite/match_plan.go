package sqlite

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// fragment is a piece of SQL and its parameters.
type fragment struct {
	sql  string
	args []any
}

// matchPlan is how a query is answered.
type matchPlan struct {
	c    *compiler
	root searchql.Node

	// index and expr answer the whole query, but for what extra says; index is
	// empty where no single index can.
	index, expr string
	// extra says that all finds more than index.
	extra bool
	// newestTies puts what the index ranks alike in falling order of ids.
	newestTies bool
	// all is a query for the id of every hit, once the plan is complete.
	all       fragment
	completed bool
}

// plan compiles the query. What only the second page may need is left to
// complete.
func (r *matching) plan() (*matchPlan, error) {
	c := &compiler{matching: r, terms: map[*searchql.Term]*termPlan{}, ranked: !r.m.Count && r.m.Order == engine.ByRank, within: r.few}
	p := &matchPlan{c: c, root: r.m.Query.Root}
	if err := c.addPrimary(p.root); err != nil {
		return nil, err
	}
	index, expr, ok := c.expr(p.root)
	if ok && c.canWait(p.root) {
		p.index, p.expr, p.extra = index, expr, true
		if r.m.Rough {
			p.all = c.find(index, expr)
		}
		if !r.m.Count || r.m.Rough {
			return p, nil
		}
	}
	if !r.m.Count && (!ok || r.m.Order != engine.ByRank) {
		p.extra = true
		return p, nil
	}
	return p, p.complete()
}

// complete fills in all.
func (p *matchPlan) complete() error {
	if p.completed {
		return nil
	}
	p.completed = true
	if err := p.c.narrowToRare(p.root); err != nil {
		return err
	}
	if err := p.c.readWithin(p.root); err != nil {
		return err
	}
	if err := p.c.addExtras(p.root); err != nil {
		return err
	}
	p.all = p.c.set(p.root)
	if index, expr, ok := p.c.expr(p.root); ok && p.index == "" {
		p.index, p.expr, p.extra = index, expr, false
	}
	return nil
}

// termPlan is how one term is found: by any of the sources. The first one is
// what an index answers with a rank, if any does.
type termPlan struct {
	sources []source
}

// source is a set of ids: an expression for an index, or a query. With both the query
// is what the index finds.
type source struct {
	index, expr string
	query       fragment
	whole       bool // query finds all at once, however few are looked for
}

func (c *compiler) sourceSet(s source) fragment {
	if s.query.sql == "" {
		return c.find(s.index, s.expr)
	}
	return s.query
}

func matchSQL(index string) string {
	return `SELECT rowid AS id FROM ` + index + ` WHERE ` + index + ` MATCH ?`
}

// compiler makes SQL of a tree.
type compiler struct {
	*matching
	terms  map[*searchql.Term]*termPlan
	within *idSet                    // the only messages that matter; nil for all
	known  map[*searchql.Term]source // what their index finds, where that was read already
	// candidates is where the messages are read that hold a word as a fragment; nil to
	// ask the index.
	candidates func(*searchql.Term) ([]int64, error)
	ranked     bool // expressions are for the rank too, not only for what matches
}

// idRange is the messages from one id to another.
type idRange struct{ first, last int64 }

// find is a query for the ids that an index finds.
func (c *compiler) find(index, expr string) fragment { return c.within.find(index, expr) }

// walk calls fn for every term of a tree.
func walk(n searchql.Node, fn func(t *searchql.Term) error) error {
	var kids []searchql.Node
	switch n := n.(type) {
	case *searchql.Term:
		return fn(n)
	case *searchql.Or:
		kids = n.Nodes
	case *searchql.And:
		kids = append(append(kids, n.Nodes...), n.Not...)
	}
	for _, k := range kids {
		if err := walk(k, fn); err != nil {
			return err
		}
	}
	return nil
}

// canWait says that what the extra sources find can come after what the first
// ones do: not where something is excluded, since an exclusion must be whole.
func (c *compiler) canWait(n searchql.Node) bool {
	switch n := n.(type) {
	case *searchql.And:
		if len(n.Not) > 0 {
			return false
		}
		for _, k := range n.Nodes {
			if !c.canWait(k) {
				return false
			}
		}
	case *searchql.Or:
		for _, k := range n.Nodes {
			if !c.canWait(k) {
				return false
			}
		}
	}
	return true
}

// expr makes one expression of a tree that one index can answer.
func (c *compiler) expr(n searchql.Node) (index, expr string, ok bool) {
	switch n := n.(type) {
	case *searchql.Term:
		if s := c.terms[n].sources; len(s) == 1 && s[0].index != "" {
			return s[0].index, s[0].expr, true
		}
	case *searchql.Or:
		return c.exprOf(n.Nodes, " OR ")
	case *searchql.And:
		index, expr, ok = c.exprOf(n.Nodes, " AND ")
		if !ok || len(n.Not) == 0 {
			return index, expr, ok
		}
		notIndex, not, ok := c.exprOf(n.Not, " OR ")
		return index, "(" + expr + ") NOT (" + not + ")", ok && notIndex == index
	}
	return "", "", false
}

func (c *compiler) exprOf(nodes []searchql.Node, op string) (index, expr string, ok bool) {
	var parts []string
	for i, n := range nodes {
		ix, e, ok := c.expr(n)
		if !ok || i > 0 && ix != index {
			return "", "", false
		}
		index = ix
		if _, isTerm := n.(*searchql.Term); !isTerm {
			e = "(" + e + ")"
		}
		parts = append(parts, e)
	}
	return index, strings.Join(parts, op), true
}

// set is a query for the ids that a tree matches. The plus signs keep SQLite from
// asking a full-text index once for each id of another set.
func (c *compiler) set(n searchql.Node) fragment {
	t, isTerm := n.(*searchql.Term)
	if index, expr, ok := c.expr(n); ok && !isTerm {
		return c.find(index, expr)
	}
	switch n := n.(type) {
	case *searchql.Term:
		var sets []fragment
		for _, s := range c.terms[t].sources {
			sets = append(sets, c.sourceSet(s))
		}
		return union(sets)
	case *searchql.Or:
		return union(c.grouped(n.Nodes, " OR "))
	case *searchql.And:
		sets := c.grouped(n.Nodes, " AND ")
		out := fragment{`SELECT id FROM (` + sets[0].sql + `) WHERE 1`, sets[0].args}
		for _, s := range sets[1:] {
			out = fragment{out.sql + ` AND +id IN (` + s.sql + `)`, join(out.args, s.args)}
		}
		for _, s := range c.grouped(n.Not, " OR ") {
			out = fragment{out.sql + ` AND +id NOT IN (` + s.sql + `)`, join(out.args, s.args)}
		}
		return out
	}
	return fragment{`SELECT NULL AS id WHERE 0`, nil}
}

// grouped makes one set of all nodes that one index can answer together, and
// one of each other node.
func (c *compiler) grouped(nodes []searchql.Node, op string) []fragment {
	var out []fragment
	byIndex := map[string][]searchql.Node{}
	for _, n := range nodes {
		if index, _, ok := c.expr(n); ok {
			byIndex[index] = append(byIndex[index], n)
		}
	}
	for _, index := range []string{wordIndex, gramIndex} {
		if list := byIndex[index]; len(list) > 0 {
			_, expr, _ := c.exprOf(list, op)
			out = append(out, c.find(index, expr))
		}
	}
	for _, n := range nodes {
		if _, _, ok := c.expr(n); !ok {
			out = append(out, c.set(n))
		}
	}
	return out
}

func union(sets []fragment) fragment {
	if len(sets) == 0 {
		return fragment{`SELECT NULL AS id WHERE 0`, nil}
	}
	out := fragment{`SELECT id FROM (` + sets[0].sql + `)`, sets[0].args}
	for _, s := range sets[1:] {
		out = fragment{out.sql + ` UNION SELECT id FROM (` + s.sql + `)`, join(out.args, s.args)}
	}
	return out
}

// rankedBy is an expression for each index that knows terms of a tree: the rank of a
// message is what they say of it, and more where several do.
func (c *compiler) rankedBy(root searchql.Node) map[string]string {
	out := map[string]string{}
	for _, t := range (searchql.Query{Root: root}).Terms() {
		for _, s := range c.terms[t].sources {
			if s.index != "" && out[s.index] != "" {
				out[s.index] += " OR " + s.expr
			} else if s.index != "" {
				out[s.index] = s.expr
			}
		}
	}
	return out
}

// ranks is a query for the rank of every hit: what the indexes say of the terms
// that each of them knows.
func (c *compiler) ranks(root searchql.Node) fragment {
	exprs := c.rankedBy(root)
	out := fragment{sql: `SELECT id, 0.0 AS rank FROM hits`}
	for _, index := range []string{wordIndex, gramIndex} {
		if expr := exprs[index]; expr != "" {
			found := c.within.between(fragment{` UNION ALL SELECT rowid, rank FROM ` + index + ` WHERE ` + index + ` MATCH ? AND +rowid IN (SELECT id FROM hits)`,
				[]any{expr}}, index+`.rowid`)
			out = fragment{out.sql + found.sql, join(out.args, found.args)}
		}
	}
	return out
}
