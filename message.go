package sessiondb

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// Message is a row of the messages table. Ids rise in the order of the
// conversation; timestamps need not. Nil stands for NULL.
type Message struct {
	ID         int64
	SessionID  string
	Role       string // user, assistant, tool, system, ...
	Content    Content
	ToolCallID *string
	// ToolCalls is the stored JSON. Text that is no JSON, as a broken writer
	// may have left, is kept: see ToolCallList.
	ToolCalls    json.RawMessage
	ToolName     *string
	Timestamp    time.Time
	TokenCount   *int64
	FinishReason *string

	Reasoning           *string
	ReasoningContent    *string // NULL and "" differ
	ReasoningDetails    json.RawMessage
	CodexReasoningItems json.RawMessage
	CodexMessageItems   json.RawMessage

	odd odd
}

// messageColumns are the columns of messages at schema version 11, in the order
// of their declaration. scanTargets follows it.
var messageColumns = []string{
	"id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
	"token_count", "finish_reason", "reasoning", "reasoning_content", "reasoning_details",
	"codex_reasoning_items", "codex_message_items",
}

func (m *Message) scanTargets() []any {
	o := &m.odd
	return []any{
		intColumn{"id", &m.ID, o},
		textColumn{"session_id", &m.SessionID, o},
		textColumn{"role", &m.Role, o},
		contentColumn{&m.Content, o},
		nullTextColumn{"tool_call_id", &m.ToolCallID, o},
		jsonColumn{"tool_calls", &m.ToolCalls, o},
		nullTextColumn{"tool_name", &m.ToolName, o},
		timeColumn{"timestamp", &m.Timestamp, o},
		nullIntColumn{"token_count", &m.TokenCount, o},
		nullTextColumn{"finish_reason", &m.FinishReason, o},
		nullTextColumn{"reasoning", &m.Reasoning, o},
		nullTextColumn{"reasoning_content", &m.ReasoningContent, o},
		jsonColumn{"reasoning_details", &m.ReasoningDetails, o},
		jsonColumn{"codex_reasoning_items", &m.CodexReasoningItems, o},
		jsonColumn{"codex_message_items", &m.CodexMessageItems, o},
	}
}

// ToolCallList returns the tool calls: the items of the list, or a single call
// that was stored as such. Text that is no JSON reads as no calls; ToolCalls
// still holds it.
func (m Message) ToolCallList() []json.RawMessage {
	list, _ := text.Items(m.ToolCalls)
	return list
}

// Messages returns all messages of a session, by id, in one snapshot. An
// unknown session has none.
func (db *DB) Messages(ctx context.Context, sessionID string) (out []Message, err error) {
	defer wrap(&err, "messages of %s", sessionID)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = sessionMessages(ctx, q, sessionID)
		return err
	})
	db.warnMalformed(out)
	if out == nil && err == nil {
		out = []Message{}
	}
	return out, err
}

var sessionMessagesSQL = messagesByID(`SELECT id FROM messages WHERE session_id = ?`)

// messagesByID selects the messages that a query names, in the order of the
// conversation, for eachMessage. Ids are picked first and rows read by id, so
// that no sort ever carries the text of messages.
func messagesByID(ids string) string {
	return `FROM messages m WHERE m.id IN (` + ids + `) ORDER BY m.id`
}

// maxHint bounds the room that is made because a counter says so.
const maxHint = 10_000

// sessionMessages reads a session whole. Its counter, which may be wrong or out
// of reach, says how much room to make at first.
func sessionMessages(ctx context.Context, q engine.Queryer, id string) ([]Message, error) {
	var n int64
	_ = q.QueryRow(ctx, `SELECT message_count FROM sessions WHERE id = ?`, id).Scan(intColumn{"message_count", &n, new(odd)})
	return appendMessages(ctx, q, make([]Message, 0, max(0, min(n, maxHint))), sessionMessagesSQL, id)
}

func queryMessages(ctx context.Context, q engine.Queryer, from string, args ...any) ([]Message, error) {
	return appendMessages(ctx, q, nil, from, args...)
}

func appendMessages(ctx context.Context, q engine.Queryer, out []Message, from string, args ...any) ([]Message, error) {
	err := eachMessage(ctx, q, func(m *Message) error {
		out = append(out, *m)
		return nil
	}, from, args...)
	return out, err
}

// errStop ends eachMessage without an error.
var errStop = errors.New("stop")

var messageSelect = selectColumns("m", messageColumns)

// eachMessage calls fn for every message m of a query, of which from is what
// stands behind the columns. The message is reused: fn copies what it keeps.
func eachMessage(ctx context.Context, q engine.Queryer, fn func(*Message) error, from string, args ...any) error {
	var m Message
	targets := m.scanTargets()
	rows, err := q.QueryColumns(ctx, messageSelect, from, args...)
	err = scanRows(rows, err, func(r engine.Rows) error {
		m.odd = nil
		if err := r.Scan(targets...); err != nil {
			return err
		}
		return fn(&m)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// warnMalformed tells the operator of tool calls that read as none.
func (db *DB) warnMalformed(ms []Message) {
	if !db.log.Enabled(context.Background(), slog.LevelWarn) {
		return // it takes reading all of them
	}
	for i := range ms {
		if m := &ms[i]; m.ToolCalls != nil && !text.ValidJSON([]byte(m.ToolCalls)) {
			db.log.Warn("malformed tool_calls read as none", "session", m.SessionID, "message", m.ID)
		}
	}
}
