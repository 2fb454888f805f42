package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// indexStep is how many messages are put into the index at a time.
const indexStep = 200

const textColumns = `COALESCE(m.content, ''), COALESCE(m.tool_name, ''), COALESCE(m.tool_calls, '')`

// takeSQL takes messages off the list of those without terms. One that another store
// has taken, or that is just being changed, is left for later. A message that was
// taken stays as it is until its terms are there. Terms that it should not have are
// those of a text that a transaction changed which saw none of them.
const takeSQL = `WITH first AS MATERIALIZED (SELECT id FROM sessiondb_unindexed ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED),
 texts AS MATERIALIZED (SELECT m.id, ` + textColumns + ` FROM messages m WHERE m.id = ANY(ARRAY(SELECT id FROM first)) FOR SHARE SKIP LOCKED),
 taken AS (DELETE FROM sessiondb_unindexed WHERE id = ANY(ARRAY(SELECT id FROM texts))),
 old AS (DELETE FROM sessiondb_terms WHERE message_id = ANY(ARRAY(SELECT id FROM texts)))
SELECT * FROM texts`

// indexSome puts messages that wait into the index, indexStep at most, and returns how
// many. The server need not have them on its disk at once: what it loses of this in a
// crash still waits.
func (s *store) indexSome(ctx context.Context) (n int, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	if _, err := c.Exec(ctx, `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return 0, err
	}
	t := &tx{store: s, conn: c.Conn(), writes: true}
	var rows termRows
	err = t.eachText(ctx, func(id int64, m said) {
		rows.add(id, m)
		n++
	}, takeSQL, indexStep)
	if err == nil && n > 0 {
		f := rows.sql()
		_, err = c.Exec(ctx, numbered(`INSERT INTO sessiondb_terms `+f.sql), f.args...)
	}
	if err != nil || n == 0 {
		s.rollback(c.Conn())
		return 0, err
	}
	return n, t.commit(ctx)
}

// indexAll puts all that waits into the index, but what is being changed or taken.
func (s *store) indexAll(ctx context.Context) error {
	for {
		n, err := s.indexSome(ctx)
		if err != nil || n == 0 {
			return err
		}
	}
}

// eachText calls fn with what messages say.
func (t *tx) eachText(ctx context.Context, fn func(id int64, m said), query string, args ...any) error {
	rows, err := t.conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var id int64
	var m said
	_, err = pgx.ForEachRow(rows, []any{&id, &m.content, &m.toolName, &m.toolCalls}, func() error {
		fn(id, said{readText(m.content), readText(m.toolName), readText(m.toolCalls)})
		return nil
	})
	return err
}
