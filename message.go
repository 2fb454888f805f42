package sessiondb

import (
	"context"
	"encoding/json"
	"time"
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

// AppendMessage adds a message to a session and returns its id. ID and
// SessionID of m are ignored; a zero Timestamp is now. The session's counters
// rise in the same transaction. An unknown session is [ErrNotFound].
func (db *DB) AppendMessage(ctx context.Context, sessionID string, m Message) (int64, error) {
	panic("todo")
}

// AppendMessages adds several messages in one transaction: all or none. It
// returns their ids in order.
func (db *DB) AppendMessages(ctx context.Context, sessionID string, ms []Message) ([]int64, error) {
	panic("todo")
}

// ReplaceMessages puts ms in the place of all messages of a session, all or
// nothing, and sets the counters. A message with a zero Timestamp gets now
// plus a microsecond per position. A message that brings the ID of a stored
// message of this session, unchanged, keeps that row: id and time. Reasoning
// and codex fields are kept for role assistant only.
func (db *DB) ReplaceMessages(ctx context.Context, sessionID string, ms []Message) error {
	panic("todo")
}

// ClearMessages removes the messages of a session and zeroes its counters.
func (db *DB) ClearMessages(ctx context.Context, sessionID string) error { panic("todo") }

// Messages returns all messages of a session, by id, in one snapshot. An
// unknown session has none.
func (db *DB) Messages(ctx context.Context, sessionID string) ([]Message, error) { panic("todo") }

// MessagesAround is a window of a session around one of its messages.
type MessagesAround struct {
	Window         []Message // by id; empty when the anchor is not in the session
	MessagesBefore int       // how many of Window stand before the anchor
	MessagesAfter  int
}

// MessagesAround returns up to window messages before the anchor, the anchor,
// and up to window after.
func (db *DB) MessagesAround(ctx context.Context, sessionID string, anchor int64, window int) (MessagesAround, error) {
	panic("todo")
}

// AnchoredView is a window and the two ends of its session.
type AnchoredView struct {
	MessagesAround
	BookendStart []Message // the first messages of the session outside the window
	BookendEnd   []Message // the last ones
}

// AnchoredOptions shapes an [AnchoredView]. Window and Bookend count messages.
// KeepRoles nil means all roles.
type AnchoredOptions struct {
	Window, Bookend int
	KeepRoles       []string
}

// AnchoredView returns a window filtered by role (the anchor always stays) and
// the first and last Bookend messages of the session that lie outside it, have
// one of the roles, and have content.
func (db *DB) AnchoredView(ctx context.Context, sessionID string, anchor int64, o AnchoredOptions) (AnchoredView, error) {
	panic("todo")
}
