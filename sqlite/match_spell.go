package sqlite

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// maxSpelled is the most words that stand for an unfinished one.
const maxSpelled = 64

// wordsSQL is a query for the words from one on, before another: each is a look
// for the first one behind the last, since between them stand all occurrences.
const wordsSQL = `WITH RECURSIVE w(term) AS (
 SELECT (SELECT v.term FROM temp.` + wordVocab + ` v WHERE v.term >= ?1 AND v.term < ?2 LIMIT 1) UNION ALL
 SELECT (SELECT v.term FROM temp.` + wordVocab + ` v WHERE v.term >= w.term || char(1) AND v.term < ?2 LIMIT 1) FROM w WHERE w.term IS NOT NULL LIMIT ?3)
SELECT term FROM w WHERE term IS NOT NULL`

// spelledOut is an expression for the words that begin as a term does, empty where
// that can't be told or would be too long. FTS5 gathers all messages with any of
// them, each time, before it gives the first one; of words it reads only
// what is asked for. The rank is another one.
func (c *compiler) spelledOut(t *searchql.Term) (expr string, err error) {
	if c.ranked {
		return "", nil
	}
	if known, ok := c.spelled[t]; ok {
		return known, nil
	}
	if begun := text.Words(t.Text); len(begun) == 1 {
		if expr, err = c.anyWord(begun[0].Word); err != nil {
			return "", err
		}
	}
	if c.spelled == nil {
		c.spelled = map[*searchql.Term]string{}
	}
	c.spelled[t] = expr
	return expr, nil
}

// anyWord is an expression for all words with a beginning.
func (c *compiler) anyWord(begin string) (string, error) {
	rows, err := c.q.Query(c.quick, wordsSQL, begin, begin+maxRune, maxSpelled+1)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var words []string
	for rows.Next() {
		var word string
		if err := rows.Scan(&word); err != nil {
			return "", err
		}
		if w := text.Words(word); len(w) != 1 || w[0].Word != word {
			return "", rows.Err() // it would not find itself
		}
		words = append(words, quote(word))
	}
	if len(words) == 0 || len(words) > maxSpelled {
		return "", rows.Err()
	}
	return "(" + strings.Join(words, " OR ") + ")", rows.Err()
}
