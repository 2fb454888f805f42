package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// maxCompared is how many messages an index may have for its words to be
// compared one by one.
const maxCompared = 100_000

// cutText is what a release of SQLite before 3.46 finds trigrams in.
const cutText = "CASE WHEN instr(c0, char(0)) > 0 THEN substr(c0, 1, instr(c0, char(0)) - 1) ELSE c0 END"

// fromOlderSQLite says whether all that is wrong with an index is that it was
// filled by a release of SQLite before 3.46, whose trigrams end at a NUL, alone
// or by turns with a newer one: then it has at least the words of the texts cut
// there, and at most those of the whole texts. Of a large index some texts are
// looked at.
func fromOlderSQLite(ctx context.Context, c *conn, sh *shape, index string) (bool, error) {
	if !sh.has(index + "_content") {
		return false, nil
	}
	var all, odd int64
	err := c.queryRow(ctx, []any{&all, &odd}, "SELECT COUNT(*), COUNT(*) FILTER (WHERE instr(c0, char(0)) > 0) FROM main."+index+"_content")
	older := false
	switch {
	case err != nil || odd == 0:
	case all > maxCompared:
		older, err = lacksCutText(ctx, c, index)
	default:
		older, err = holdsCutText(ctx, c, sh, index)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && older, nil // what can't be read is damaged
}

// holdsCutText compares an index with two that are made in the temporary
// database from its texts, cut at a NUL and whole.
func holdsCutText(ctx context.Context, c *conn, sh *shape, index string) (holds bool, err error) {
	_, using, _ := strings.Cut(sh.objects[index].sql, " USING ")
	err = inTemp(ctx, c, []string{"sessiondb_is", "sessiondb_least", "sessiondb_most", "sessiondb_cut", "sessiondb_whole"}, []string{
		"CREATE VIRTUAL TABLE temp.sessiondb_cut USING " + using,
		"CREATE VIRTUAL TABLE temp.sessiondb_whole USING " + using,
		"INSERT INTO temp.sessiondb_cut (rowid, content) SELECT id, " + cutText + " FROM main." + index + "_content",
		"INSERT INTO temp.sessiondb_whole (rowid, content) SELECT id, c0 FROM main." + index + "_content",
		"CREATE VIRTUAL TABLE temp.sessiondb_is USING fts5vocab(main, " + index + ", row)",
		"CREATE VIRTUAL TABLE temp.sessiondb_least USING fts5vocab(temp, sessiondb_cut, row)",
		"CREATE VIRTUAL TABLE temp.sessiondb_most USING fts5vocab(temp, sessiondb_whole, row)",
	}, func() error {
		return c.queryRow(ctx, []any{&holds}, `SELECT NOT EXISTS (SELECT 1 FROM (
  SELECT term, 0 AS side, cnt FROM temp.sessiondb_is
  UNION ALL SELECT term, 1, cnt FROM temp.sessiondb_least
  UNION ALL SELECT term, 2, cnt FROM temp.sessiondb_most)
 GROUP BY term HAVING TOTAL(cnt) FILTER (WHERE side = 0)
  NOT BETWEEN TOTAL(cnt) FILTER (WHERE side = 1) AND TOTAL(cnt) FILTER (WHERE side = 2))`)
	})
	return holds, err
}

// looksAt is how many texts of a large index are looked at.
const looksAt = 20

// lacksCutText says whether an index misses what stands behind a NUL of the
// texts that have one.
func lacksCutText(ctx context.Context, c *conn, index string) (lacks bool, err error) {
	behind, err := texts(ctx, c, `SELECT id || ' ' || substr(c0, instr(c0, char(0)) + 1, 8) FROM main.`+index+`_content
 WHERE instr(c0, char(0)) > 0 AND length(CAST(substr(c0, instr(c0, char(0)) + 1, 8) AS BLOB)) >= 8 LIMIT ?`, looksAt)
	for _, text := range behind {
		id, words, _ := strings.Cut(text, " ")
		found := c.queryRow(ctx, []any{new(int64)}, "SELECT rowid FROM main."+index+" WHERE "+index+" MATCH ? AND rowid = CAST(? AS INTEGER)",
			`"`+strings.ReplaceAll(words, `"`, `""`)+`"`, id)
		switch {
		case errors.Is(found, sql.ErrNoRows):
			return true, nil
		case found != nil:
			return false, found
		}
	}
	return false, err
}

// inTemp makes tables in the temporary database for as long as fn takes. Nothing
// else can be written meanwhile, and the connection stays one for reading.
func inTemp(ctx context.Context, c *conn, tables, steps []string, fn func() error) (err error) {
	defer func() {
		for _, t := range tables {
			_ = c.script(context.Background(), "DROP TABLE IF EXISTS temp."+t)
		}
		_ = c.script(context.Background(), "PRAGMA query_only = 1")
	}()
	for _, s := range append([]string{"PRAGMA query_only = 0"}, steps...) {
		if err := c.script(ctx, s); err != nil {
			return err
		}
	}
	return fn()
}
