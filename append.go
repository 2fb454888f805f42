package sessiondb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

const countMessagesSQL = `UPDATE sessions SET message_count = COALESCE(message_count, 0) + ?,
 tool_call_count = COALESCE(tool_call_count, 0) + ? WHERE id = ?`

const insertMessageSQL = `INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name,
 timestamp, token_count, finish_reason, reasoning, reasoning_content, reasoning_details,
 codex_reasoning_items, codex_message_items)
 VALUES ` + oneMessage + returningID

const (
	oneMessage  = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	returningID = ` RETURNING id`
)

// timestampValue is where the timestamp stands among the values of a row.
const timestampValue = 6

// AppendMessage adds a message to a session and returns its id. ID and
// SessionID of m are ignored; a zero Timestamp is now. The session's counters
// rise in the same transaction. An unknown session is [ErrNotFound], a message
// without a role or with malformed JSON [ErrInvalid]; nothing is then written.
// With [Once], a call that is made again adds nothing.
func (db *DB) AppendMessage(ctx context.Context, sessionID string, m Message, options ...AppendOption) (id int64, err error) {
	defer wrap(&err, "append message to %s", sessionID)
	row, err := messageRow(sessionID, &m)
	if err != nil {
		return 0, err
	}
	calls := toolCalls(row)
	ids, err := db.append(ctx, sessionID, 1, options, func(tx engine.Execer) ([]int64, error) {
		if err := countMessages(ctx, tx, sessionID, 1, calls); err != nil {
			return nil, err
		}
		if m.Timestamp.IsZero() {
			row[timestampValue] = epoch(db.now())
		}
		ids := make([]int64, 1)
		return ids, tx.QueryRow(ctx, insertMessageSQL, row...).Scan(&ids[0])
	})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// AppendMessages adds several messages in one transaction: all or none. It
// returns their ids in order. Messages without a Timestamp get now, each a
// microsecond after the one before. Options are as for [DB.AppendMessage].
func (db *DB) AppendMessages(ctx context.Context, sessionID string, ms []Message, options ...AppendOption) (ids []int64, err error) {
	defer wrap(&err, "append %d messages to %s", len(ms), sessionID)
	rows, calls, err := messageRows(sessionID, ms)
	if err != nil {
		return nil, err
	}
	return db.append(ctx, sessionID, len(rows), options, func(tx engine.Execer) ([]int64, error) {
		if err := countMessages(ctx, tx, sessionID, len(rows), calls); err != nil {
			return nil, err
		}
		now := db.now()
		for i, row := range rows {
			if ms[i].Timestamp.IsZero() {
				row[timestampValue] = epoch(now.Add(time.Duration(i) * time.Microsecond))
			}
		}
		return insertMessages(ctx, tx, rows)
	})
}

// countMessages raises the counters of a session, in SQL. It comes before the
// rows, so that an unknown session shows as such.
func countMessages(ctx context.Context, tx engine.Execer, sessionID string, messages, calls int) error {
	n, err := tx.Exec(ctx, countMessagesSQL, messages, calls, sessionID)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

func messageRows(sessionID string, ms []Message) (rows [][]any, calls int, err error) {
	rows = make([][]any, len(ms))
	for i := range ms {
		if rows[i], err = messageRow(sessionID, &ms[i]); err != nil {
			return nil, 0, fmt.Errorf("message %d: %w", i, err)
		}
		calls += toolCalls(rows[i])
	}
	return rows, calls, nil
}

// messageRow is the values of insertMessageSQL. Text becomes valid UTF-8 here
// and JSON compact; a zero time is left to be filled.
func messageRow(sessionID string, m *Message) (row []any, err error) {
	if m.Role == "" {
		return nil, fmt.Errorf("%w: message without a role", ErrInvalid)
	}
	content, err := m.Content.stored()
	if err != nil {
		return nil, err
	}
	store := func(name string, raw json.RawMessage) any {
		v, e := jsonOrNull(name, raw)
		if e != nil {
			err = e
		}
		return v
	}
	row = []any{
		sessionID, validText(m.Role), content, nullable(m.ToolCallID), store("tool_calls", m.ToolCalls), nullable(m.ToolName),
		epochOrNil(m.Timestamp), nullableInt(m.TokenCount), nullable(m.FinishReason), nullable(m.Reasoning), nullable(m.ReasoningContent),
		store("reasoning_details", m.ReasoningDetails), store("codex_reasoning_items", m.CodexReasoningItems),
		store("codex_message_items", m.CodexMessageItems),
	}
	return row, err
}

// toolCalls counts the calls of a row: the items of a list, or 1 for anything
// else that is stored.
func toolCalls(row []any) int {
	s, ok := row[4].(string)
	if !ok {
		return 0
	}
	return text.CountItems(s)
}

// nullableInt stores a nil pointer as NULL.
func nullableInt(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}
