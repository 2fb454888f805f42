package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// fragment is a piece of SQL with its parameters.
type fragment struct {
	sql  string
	args []any
}

func (f fragment) and(sql string, args ...any) fragment {
	return fragment{f.sql + sql, append(slices.Clip(f.args), args...)}
}

// compiler makes a query for the ids of messages of a tree. Each term is a query
// of its own over the parts of messages, since two terms may stand in two parts.
type compiler struct {
	ctx     context.Context
	tx      *tx
	terms   string    // the table of terms, or waiting
	waiting *termRows // what that is, nil for the table
	several bool      // messages in it may have several parts
	rank    []string  // the words of the query, each a tsquery
	partly  bool      // only messages of several parts are looked for
}

// compile returns a query for the messages; ranked says that their ranks are in it.
// It is run with what stands before it by [termRows.before].
func (c *compiler) compile(root searchql.Node) (f fragment, ranked bool, err error) {
	if f, ranked, err = c.compileWords(root); ranked || err != nil {
		return f, ranked, err
	}
	f, err = c.node(root, true)
	if _, alone := root.(*searchql.Term); alone {
		f.sql = `SELECT DISTINCT message_id FROM (` + f.sql + `) parts` // else a set is made of it anyway
	}
	return f, false, err
}

// node is a query for the messages of a node. Ranked says that they are looked
// for, not left out.
func (c *compiler) node(n searchql.Node, ranked bool) (fragment, error) {
	switch n := n.(type) {
	case *searchql.Term:
		return c.term(n, ranked)
	case *searchql.And:
		f, err := c.join(n.Nodes, ` INTERSECT `, ranked)
		if err != nil || len(n.Not) == 0 {
			return f, err
		}
		not, err := c.join(n.Not, ` UNION `, false)
		return f.and(` EXCEPT (`+not.sql+`)`, not.args...), err
	case *searchql.Or:
		return c.join(n.Nodes, ` UNION `, ranked)
	}
	return fragment{}, fmt.Errorf("a node of type %T", n)
}

func (c *compiler) join(nodes []searchql.Node, op string, ranked bool) (out fragment, err error) {
	for i, n := range nodes {
		f, err := c.node(n, ranked)
		if err != nil {
			return out, err
		}
		if i > 0 {
			out.sql += op
		}
		out = out.and(`(`+f.sql+`)`, f.args...)
	}
	return out, nil
}

const nothing = `SELECT NULL::bigint AS message_id WHERE FALSE`

// term is a query for the messages that a term matches.
func (c *compiler) term(t *searchql.Term, ranked bool) (fragment, error) {
	if t.Fragment {
		return c.fragment(patternOf(t))
	}
	query := phraseQuery(t)
	if query == "" {
		return fragment{nothing, nil}, nil
	}
	if ranked {
		c.rank = append(c.rank, `(`+query+`)`)
	}
	f := fragment{`SELECT message_id FROM ` + c.terms + ` t WHERE words @@ ?::text::tsquery`, []any{query}}
	if c.partly {
		f = f.and(` AND message_id IN (SELECT message_id FROM ` + c.terms + ` p WHERE part > 0)`)
	}
	return f, nil
}

// phraseQuery is the tsquery of words that stand one after the other.
func phraseQuery(t *searchql.Term) string {
	var list []string
	for _, w := range text.Words(t.Text) {
		list = append(list, quoteLexeme(lexeme(w.Word)))
	}
	if t.Prefix && len(list) > 0 {
		list[len(list)-1] += ":*"
	}
	return strings.Join(list, " <-> ")
}

// maxGrams bounds how many fragments a longer one is looked up by.
const maxGrams = 60

// fragment is a query for the messages that hold a text anywhere. One of more
// than three characters is looked for in the messages that have all its parts.
func (c *compiler) fragment(p text.Pattern) (fragment, error) {
	folded := text.FoldFragment(p.Text)
	n := utf8.RuneCountInString(folded)
	if n == 0 {
		return fragment{nothing, nil}, nil
	}
	grams := gramsOf(folded)
	var list []string
	for _, g := range grams[:min(len(grams), maxGrams)] {
		list = append(list, quoteLexeme(g))
	}
	if n < gramChars {
		list[0] += ":*"
	}
	set := fragment{`SELECT message_id FROM ` + c.terms + ` t WHERE grams @@ ?::text::tsquery`, []any{strings.Join(list, " & ")}}
	if n <= gramChars {
		return set, nil
	}
	ids, err := c.verified(p, set)
	return fragment{`SELECT unnest(?::bigint[]) AS message_id`, []any{ids}}, err
}

// verified reads candidates and returns those that hold a text.
func (c *compiler) verified(p text.Pattern, candidates fragment) ([]int64, error) {
	ids := []int64{}
	f := c.waiting.before(fragment{`SELECT m.id, ` + textColumns + ` FROM (` + candidates.sql + `) k JOIN messages m ON m.id = k.message_id`, candidates.args})
	err := c.tx.eachText(c.ctx, func(id int64, m said) {
		if m.holds(p) {
			ids = append(ids, id)
		}
	}, numbered(f.sql), f.args...)
	return ids, err
}

func patternOf(t *searchql.Term) text.Pattern {
	return text.Pattern{Text: t.Text, Fragment: t.Fragment, Prefix: t.Prefix, Touching: touches}
}

// holds reports whether a pattern stands in a message.
func (m said) holds(patterns ...text.Pattern) bool {
	for _, s := range m.forms() {
		for _, p := range patterns {
			if p.In(s) {
				return true
			}
		}
	}
	return false
}
