package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// indexStep is how many messages are cut into terms at a time.
const indexStep = 200

// index makes the terms of messages that have none yet: those of this
// transaction, and those that other programs wrote.
func (t *tx) index(ctx context.Context) error {
	for first := true; ; first = false {
		texts, err := t.takeUnindexed(ctx, first)
		if err != nil || len(texts) == 0 {
			return err
		}
		var b pgx.Batch
		for id, m := range texts {
			for i, p := range m.parts() {
				b.Queue(`INSERT INTO sessiondb_terms VALUES ($1, $2, $3::text::tsvector, $4::text::tsvector)`, id, i, p.words, p.grams)
			}
		}
		if err := t.conn.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		if len(texts) < indexStep {
			return nil
		}
	}
}

const textColumns = `COALESCE(m.content, ''), COALESCE(m.tool_name, ''), COALESCE(m.tool_calls, '')`

// saidNothing is the setting that messages of a transaction are added to.
const saidNothing = `SET LOCAL sessiondb.said = '0'`

// takeUnindexed takes messages off the list of those without terms, and adds those
// of this transaction. One that another writer has taken is left to it.
func (t *tx) takeUnindexed(ctx context.Context, mine bool) (map[int64]said, error) {
	return t.texts(ctx, `WITH taken AS (
 DELETE FROM sessiondb_unindexed WHERE id IN (SELECT id FROM sessiondb_unindexed ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id)
SELECT m.id, `+textColumns+` FROM messages m WHERE $2 AND m.id = ANY(string_to_array(current_setting('sessiondb.said'), ',')::bigint[])
UNION ALL SELECT m.id, `+textColumns+` FROM taken JOIN messages m ON m.id = taken.id`, indexStep, mine)
}

// texts reads what messages say.
func (t *tx) texts(ctx context.Context, query string, args ...any) (map[int64]said, error) {
	rows, err := t.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	out := map[int64]said{}
	var id int64
	var m said
	_, err = pgx.ForEachRow(rows, []any{&id, &m.content, &m.toolName, &m.toolCalls}, func() error {
		out[id] = said{readText(m.content), readText(m.toolName), readText(m.toolCalls)}
		return nil
	})
	return out, err
}
