package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"
)

// So much is put into the index at a time.
const (
	indexStep  = 50      // messages
	indexBytes = 4 << 20 // of text, or one message of more
)

const textColumns = `COALESCE(m.content, ''), COALESCE(m.tool_name, ''), COALESCE(m.tool_calls, '')`

// takeSQL takes messages off the list of those without terms, from an id on. One that
// another store has taken, or that is just being changed, is left for later, so that
// this waits for nobody. A message that was taken stays as it is until its terms are
// there. Terms that it should not have are those of a text that a transaction changed
// which saw none of them.
const takeSQL = `WITH listed AS MATERIALIZED (SELECT id FROM sessiondb_unindexed WHERE id > $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED),
 sized AS (SELECT l.id, COALESCE(octet_length(m.content), 0) + COALESCE(octet_length(m.tool_calls), 0) AS bytes FROM listed l LEFT JOIN messages m ON m.id = l.id),
 summed AS (SELECT id, SUM(bytes) OVER (ORDER BY id) - bytes AS before FROM sized),
 first AS MATERIALIZED (SELECT id FROM summed WHERE before < $3),
 texts(id, content, tool_name, tool_calls) AS MATERIALIZED (SELECT m.id, ` + textColumns + ` FROM messages m WHERE m.id = ANY(ARRAY(SELECT id FROM first)) FOR SHARE SKIP LOCKED),
 taken AS (DELETE FROM sessiondb_unindexed WHERE id = ANY(ARRAY(SELECT id FROM texts))),
 old AS (DELETE FROM sessiondb_terms WHERE message_id = ANY(ARRAY(SELECT id FROM texts)))
SELECT f.id, (SELECT COUNT(*) FROM listed), t.id IS NOT NULL, COALESCE(t.content, ''), COALESCE(t.tool_name, ''), COALESCE(t.tool_calls, '') FROM first f LEFT JOIN texts t ON t.id = f.id`

// indexed is what one step did.
type indexed struct {
	n    int   // messages that are in the index now
	last int64 // the highest id that was looked at
	more bool  // others may wait after it
}

// indexWaiting puts messages that wait into the index, in steps, in the order of their
// ids, until there are no more or going returns false. It is called with how many
// messages each step did.
func (s *store) indexWaiting(ctx context.Context, going func(n int) bool) error {
	for x := (indexed{last: math.MinInt64, more: true}); x.more; {
		var err error
		if x, err = s.indexSome(ctx, x.last); err != nil || !going(x.n) {
			return err
		}
	}
	return nil
}

// indexSome does one step, from an id on. The server need not have it on its disk at
// once: what it loses of this in a crash still waits.
func (s *store) indexSome(ctx context.Context, after int64) (x indexed, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return x, err
	}
	defer c.Release()
	if _, err := c.Exec(ctx, `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return x, err
	}
	t := &tx{store: s, conn: c.Conn(), writes: true}
	x, rows, err := t.takeWaiting(ctx, after)
	if err == nil && x.n > 0 {
		f := rows.sql()
		_, err = c.Exec(ctx, numbered(`INSERT INTO sessiondb_terms `+f.sql), f.args...)
	}
	if err != nil || x.n == 0 {
		s.rollback(c.Conn())
		return x, err
	}
	return x, t.commit(ctx)
}

// takeWaiting takes messages and makes their terms.
func (t *tx) takeWaiting(ctx context.Context, after int64) (x indexed, out termRows, err error) {
	rows, err := t.conn.Query(ctx, takeSQL, after, indexStep, indexBytes)
	if err != nil {
		return x, out, err
	}
	var id int64
	var looked, listed int
	var taken bool
	var m said
	x.last = after
	_, err = pgx.ForEachRow(rows, []any{&id, &listed, &taken, &m.content, &m.toolName, &m.toolCalls}, func() error {
		looked++
		x.last, x.more = max(x.last, id), looked < listed || listed == indexStep
		if taken {
			x.n++
			out.add(id, m.read().parts())
		}
		return nil
	})
	return x, out, err
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
		fn(id, m.read())
		return nil
	})
	return err
}

// read is what a message says whose columns hold m.
func (m said) read() said {
	return said{readText(m.content), readText(m.toolName), readText(m.toolCalls)}
}

// indexAll puts all that waits into the index, but what is being changed or taken.
func (s *store) indexAll(ctx context.Context) error {
	return s.indexWaiting(ctx, func(int) bool { return true })
}
