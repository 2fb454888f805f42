package sessiondb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// ReplaceMessages puts ms in the place of all messages of a session, all or
// nothing, and sets the counters. A message with a zero Timestamp gets now
// plus a microsecond per position. Reasoning and codex fields are kept for role
// assistant only.
//
// A message that brings the ID of a stored message of this session stands for
// that one: it keeps its time if it brings none, and its id, unless a new
// message, or one of a higher id, comes before it: ids are the order of a
// conversation. What did not change is not written. Other IDs are ignored.
func (db *DB) ReplaceMessages(ctx context.Context, sessionID string, ms []Message) (err error) {
	defer wrap(&err, "replace messages of %s", sessionID)
	return db.writeAbout(ctx, func(tx engine.Execer) error {
		r := replacement{tx: tx, session: sessionID, now: db.now()}
		return r.run(ctx, ms)
	}, sessionID)
}

// ClearMessages removes the messages of a session and zeroes its counters.
func (db *DB) ClearMessages(ctx context.Context, sessionID string) error {
	return db.ReplaceMessages(ctx, sessionID, nil)
}

// replacement is one ReplaceMessages under way.
type replacement struct {
	tx      engine.Execer
	session string
	now     time.Time

	ids    []int64           // of the rows that were there
	stored map[int64]Message // those that a message stands for
	kept   map[int64]bool    // those that stay
	last   int64             // the id of the message before
	calls  int
}

func (r *replacement) run(ctx context.Context, ms []Message) error {
	ok, err := sessionExists(ctx, r.tx, r.session)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err == nil {
		err = r.load(ctx, ms)
	}
	for i := 0; i < len(ms) && err == nil; i++ {
		if err = r.put(ctx, ms[i], i); err != nil {
			err = fmt.Errorf("message %d: %w", i, err)
		}
	}
	for i := 0; i < len(r.ids) && err == nil; i++ {
		if !r.kept[r.ids[i]] {
			_, err = r.tx.Exec(ctx, `DELETE FROM messages WHERE id = ?`, r.ids[i])
		}
	}
	if err == nil {
		_, err = r.tx.Exec(ctx, `UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?`, len(ms), r.calls, r.session)
	}
	return err
}

// load reads the ids of the rows, and the rows that messages stand for.
func (r *replacement) load(ctx context.Context, ms []Message) error {
	r.stored, r.kept = map[int64]Message{}, map[int64]bool{}
	err := eachRow(ctx, r.tx, func(rows engine.Rows) error {
		var id int64
		err := rows.Scan(&id)
		r.ids = append(r.ids, id)
		return err
	}, `SELECT id FROM messages WHERE session_id = ?`, r.session)
	wanted := map[int64]bool{}
	for i := range ms {
		wanted[ms[i].ID] = true
	}
	if delete(wanted, 0); err != nil || len(wanted) == 0 {
		return err
	}
	return eachMessage(ctx, r.tx, func(m *Message) error {
		if wanted[m.ID] {
			r.stored[m.ID] = *m
		}
		return nil
	}, sessionMessagesSQL, r.session)
}

// put stores the message of a position: in the row it stands for, or in a new
// one.
func (r *replacement) put(ctx context.Context, m Message, position int) error {
	if m.Role != "assistant" {
		m.Reasoning, m.ReasoningContent = nil, nil
		m.ReasoningDetails, m.CodexReasoningItems, m.CodexMessageItems = nil, nil, nil
	}
	old, known := r.stored[m.ID]
	if known && m.Timestamp.IsZero() {
		m.Timestamp = old.Timestamp
	}
	stays := known && m.ID > r.last
	if known && sameStored(&old, &m) {
		if old.ToolCalls != nil {
			r.calls += text.CountItems([]byte(old.ToolCalls))
		}
		if stays {
			r.keep(m.ID)
			return nil
		}
		return r.tx.QueryRow(ctx, copyMessageSQL, m.ID).Scan(&r.last)
	}
	row, err := messageRow(r.session, &m)
	if err != nil {
		return err
	}
	if m.Timestamp.IsZero() {
		row[timestampValue] = epoch(r.now.Add(time.Duration(position) * time.Microsecond))
	}
	r.calls += toolCalls(row)
	if stays {
		r.keep(m.ID)
		_, err := r.tx.Exec(ctx, updateMessageSQL, append(row[1:], m.ID)...)
		return err
	}
	return r.tx.QueryRow(ctx, insertMessageSQL, row...).Scan(&r.last)
}

func (r *replacement) keep(id int64) {
	r.kept[id] = true
	r.last = id
}

// The columns of a message that its caller says, but for the session.
const saidColumns = `role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count, finish_reason,
 reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items`

const updateMessageSQL = `UPDATE messages SET (` + saidColumns + `) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`

const copyMessageSQL = `INSERT INTO messages (session_id, ` + saidColumns + `)
 SELECT session_id, ` + saidColumns + ` FROM messages WHERE id = ? RETURNING id`

// sameStored reports whether two messages are stored alike, apart from id and
// session.
func sameStored(a, b *Message) bool {
	x, errX := a.Content.stored()
	y, errY := b.Content.stored()
	return errX == nil && errY == nil && x == y && a.Role == b.Role && epochOrNil(a.Timestamp) == epochOrNil(b.Timestamp) &&
		same(a.ToolCallID, b.ToolCallID) && same(a.ToolName, b.ToolName) && same(a.TokenCount, b.TokenCount) &&
		same(a.FinishReason, b.FinishReason) && same(a.Reasoning, b.Reasoning) && same(a.ReasoningContent, b.ReasoningContent) &&
		sameJSON(a.ToolCalls, b.ToolCalls) && sameJSON(a.ReasoningDetails, b.ReasoningDetails) &&
		sameJSON(a.CodexReasoningItems, b.CodexReasoningItems) && sameJSON(a.CodexMessageItems, b.CodexMessageItems)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameJSON compares in the stored form; text that is no JSON as it is.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := jsonOrNull("", a)
	y, errY := jsonOrNull("", b)
	if errX != nil || errY != nil {
		return string(a) == string(b)
	}
	return x == y
}
