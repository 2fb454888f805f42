package postgres

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// A query of words alone is one tsquery for messages of one part, which nearly all
// are: the index then looks for all words at once, and the row that it finds has what
// the rank is made of. Messages of several parts are looked for term by term, since
// two terms may stand in two parts.

// combined is the tsquery of a tree; ok is false where there is none.
func (c *compiler) combined(n searchql.Node, ranked bool) (query string, ok bool) {
	switch n := n.(type) {
	case *searchql.Term:
		if n.Fragment {
			return "", false
		}
		if query = phraseQuery(n); query == "" {
			return "", false
		}
		query = `(` + query + `)`
		if ranked {
			c.rank = append(c.rank, query)
		}
		return query, true
	case *searchql.Or:
		return c.combinedList(n.Nodes, ` | `, ranked)
	case *searchql.And:
		query, ok = c.combinedList(n.Nodes, ` & `, ranked)
		if !ok || len(n.Not) == 0 {
			return query, ok
		}
		not, ok := c.combinedList(n.Not, ` | `, false)
		return `(` + query + ` & !` + not + `)`, ok
	}
	return "", false
}

func (c *compiler) combinedList(nodes []searchql.Node, op string, ranked bool) (string, bool) {
	var list []string
	for _, n := range nodes {
		query, ok := c.combined(n, ranked)
		if !ok {
			return "", false
		}
		list = append(list, query)
	}
	return `(` + strings.Join(list, op) + `)`, len(list) > 0
}

// compileWords is compile for a query of words alone: messages with their ranks. ok
// is false for any other.
func (c *compiler) compileWords(root searchql.Node) (f fragment, ok bool, err error) {
	if !c.tx.store.knowsParts {
		return f, false, nil
	}
	query, ok := c.combined(root, true)
	rank := strings.Join(c.rank, ` | `)
	c.rank = nil
	if !ok {
		return f, false, nil
	}
	f = fragment{`SELECT message_id, -ts_rank(words, ?::text::tsquery, 1)::float8 AS rank FROM ` + c.terms + ` t WHERE words @@ ?::text::tsquery`, []any{rank, query}}
	if !c.several {
		return f, true, nil
	}
	// A list of them would be read from end to end for each hit.
	f = f.and(` AND NOT EXISTS (SELECT 1 FROM ` + c.terms + ` p WHERE p.message_id = t.message_id AND p.part > 0)`)
	c.partly = true
	slow, err := c.node(root, true)
	if err != nil {
		return f, false, err
	}
	f = f.and(` UNION ALL SELECT k.message_id, (SELECT -MAX(ts_rank(t.words, ?::text::tsquery, 1))::float8 FROM `+c.terms+` t WHERE t.message_id = k.message_id)
 FROM (SELECT DISTINCT message_id FROM (`, rank)
	return f.and(slow.sql+`) parts) k`, slow.args...), true, nil
}
