package sqlite

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"strings"
)

// matchesMessages says whether an index without a copy of the text holds what
// the messages say. SQLite's own check takes the lock of writers for that; this
// one makes the index anew in the temporary database and compares every token
// and its place. It takes about as long as making the index.
func matchesMessages(ctx context.Context, c *conn, index string) (same bool, err error) {
	_, using, _ := strings.Cut(external.find(index).sql, " USING ")
	using = strings.NewReplacer("content='"+textView+"'", "content=''", "content_rowid='id'", "columnsize=0").Replace(using)
	tables := []string{"sessiondb_index_terms", "sessiondb_anew_terms", "sessiondb_anew"}
	err = inTemp(ctx, c, tables, []string{
		"CREATE VIRTUAL TABLE temp.sessiondb_anew USING " + using,
		"INSERT INTO temp.sessiondb_anew (rowid, content) SELECT id, " + indexedText + " FROM main.messages",
		"CREATE VIRTUAL TABLE temp.sessiondb_anew_terms USING fts5vocab(temp, sessiondb_anew, instance)",
		"CREATE VIRTUAL TABLE temp.sessiondb_index_terms USING fts5vocab(main, " + index + ", instance)",
	}, func() error {
		want, err := sumOfTerms(ctx, c, "sessiondb_anew_terms")
		if err != nil {
			return err
		}
		have, err := sumOfTerms(ctx, c, "sessiondb_index_terms")
		same = want == have
		return err
	})
	return same, err
}

// sumOfTerms condenses all tokens of a vocabulary and where they stand.
func sumOfTerms(ctx context.Context, c *conn, vocab string) (uint64, error) {
	// The squares of the places of a token are added up, in a ring where nothing
	// overflows: places that are exchanged don't cancel out.
	rows, err := c.query(ctx, `SELECT term, COUNT(*), SUM(place * place % 1000000007)
 FROM (SELECT term, (doc * 1000003 + offset) % 1000000007 AS place FROM temp.`+vocab+`) GROUP BY term`)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	h := fnv.New64a()
	for rows.Next() {
		var term string
		var n, places int64
		if err := rows.Scan(&term, &n, &places); err != nil {
			return 0, err
		}
		_, _ = h.Write(append([]byte(term), 0))
		_ = binary.Write(h, binary.LittleEndian, [2]int64{n, places})
	}
	return h.Sum64(), rows.Err()
}
