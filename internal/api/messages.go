package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

var messageMethods = []*Method{
	method(WritesSession, "append_message", "Adds a message to a session.", "the id of the message", appendMessage),
	method(WritesSession, "append_messages", "Adds several messages to a session, all or none.", "the ids, in order",
		func(ctx context.Context, db *sessiondb.DB, p appendsParams) (any, error) {
			return list(db.AppendMessages(ctx, p.SessionID, p.messages(), p.options()...))
		}),
	method(WritesSession, "replace_messages",
		"Puts messages in the place of all messages of a session, all or none; one that brings its id and is unchanged keeps its row.",
		"null",
		func(ctx context.Context, db *sessiondb.DB, p messagesParams) (any, error) {
			return done(db.ReplaceMessages(ctx, p.SessionID, p.messages()))
		}),
	method(WritesSession, "clear_messages", "Removes all messages of a session; the session stays.", "null",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return done(db.ClearMessages(ctx, p.SessionID))
		}),
	method(ReadsSession, "get_messages", "Returns the messages of a session, in the order of the conversation.", "a list of messages, every column",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return list(db.Messages(ctx, p.SessionID))
		}),
	method(ReadsSession, "get_messages_around", "Returns a window of messages around one.",
		"window, messages_before, messages_after; the window is empty when the message is not in the session", messagesAround),
	method(ReadsSession, "get_anchored_view", "Returns a window around a message, and the two ends of its session.",
		"window, messages_before, messages_after, bookend_start, bookend_end", anchoredView),
	method(ReadsStore, "get_messages_as_conversation", "Returns a session in the form that is sent to a model.",
		"a list of messages in the OpenAI chat form",
		func(ctx context.Context, db *sessiondb.DB, p conversationParams) (any, error) {
			return list(db.Conversation(ctx, p.SessionID, p.IncludeAncestors))
		}),
}

// messageFields are a message as a caller gives it.
type messageFields struct {
	Role                string          `json:"role" need:"true" doc:"user, assistant, tool, system, ..."`
	Content             json.RawMessage `json:"content" doc:"text, or a list of parts"`
	ToolName            *string         `json:"tool_name"`
	ToolCalls           json.RawMessage `json:"tool_calls"`
	ToolCallID          *string         `json:"tool_call_id"`
	TokenCount          *int64          `json:"token_count"`
	FinishReason        *string         `json:"finish_reason"`
	Reasoning           *string         `json:"reasoning"`
	ReasoningContent    *string         `json:"reasoning_content" doc:"null and the empty string differ"`
	ReasoningDetails    json.RawMessage `json:"reasoning_details"`
	CodexReasoningItems json.RawMessage `json:"codex_reasoning_items"`
	CodexMessageItems   json.RawMessage `json:"codex_message_items"`
	Timestamp           instant         `json:"timestamp" doc:"seconds since 1970; now if absent"`
}

func (f messageFields) message() sessiondb.Message {
	return sessiondb.Message{
		Role: f.Role, Content: content(f.Content), ToolName: f.ToolName, ToolCalls: f.ToolCalls, ToolCallID: f.ToolCallID,
		TokenCount: f.TokenCount, FinishReason: f.FinishReason, Reasoning: f.Reasoning, ReasoningContent: f.ReasoningContent,
		ReasoningDetails: f.ReasoningDetails, CodexReasoningItems: f.CodexReasoningItems, CodexMessageItems: f.CodexMessageItems,
		Timestamp: f.Timestamp.Time,
	}
}

func content(raw json.RawMessage) sessiondb.Content {
	var s *string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return sessiondb.Structured(raw)
	}
	if s == nil {
		return sessiondb.Content{}
	}
	return sessiondb.Text(*s)
}

// instant is a time as JSON has it, a Unix epoch.
type instant struct{ time.Time }

// UnmarshalJSON takes a number of seconds; null is no time.
func (t *instant) UnmarshalJSON(b []byte) error {
	var f *float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f == nil {
		return nil
	}
	if math.Abs(*f) > 1e11 {
		return fmt.Errorf("%v is no time in seconds", *f)
	}
	sec, frac := math.Modf(*f)
	t.Time = time.Unix(int64(sec), int64(math.Round(frac*1e9)))
	return nil
}

type appendParams struct {
	ofSession
	messageFields
	keyParam
}

// keyParam makes a call that can be made again.
type keyParam struct {
	IdempotencyKey *string `json:"idempotency_key" doc:"a call that is made again with the same key, within a week, adds nothing and gives the ids of the first"`
}

func (p keyParam) options() []sessiondb.AppendOption {
	if p.IdempotencyKey == nil {
		return nil
	}
	return []sessiondb.AppendOption{sessiondb.Once(*p.IdempotencyKey)}
}

func appendMessage(ctx context.Context, db *sessiondb.DB, p appendParams) (any, error) {
	return result(db.AppendMessage(ctx, p.SessionID, p.message(), p.options()...))
}

type messagesParams struct {
	ofSession
	Messages []givenMessage `json:"messages" need:"true" doc:"as append_message takes them; other keys are ignored"`
}

type appendsParams struct {
	messagesParams
	keyParam
}

// givenMessage is a message in a list. It may be a row that get_messages
// returned: then it brings its id.
type givenMessage struct {
	ID *int64 `json:"id"`
	messageFields
}

// UnmarshalJSON refuses what is no message.
func (m *givenMessage) UnmarshalJSON(b []byte) error {
	type plain givenMessage
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	if m.Role == "" {
		return errors.New("a message without a role")
	}
	return nil
}

func (p messagesParams) messages() []sessiondb.Message {
	out := make([]sessiondb.Message, len(p.Messages))
	for i, m := range p.Messages {
		out[i] = m.message()
		if m.ID != nil {
			out[i].ID = *m.ID
		}
	}
	return out
}

type aroundParams struct {
	ofSession
	Anchor int64 `json:"around_message_id" also:"message_id" need:"true" doc:"id of the message in the middle"`
	Window int   `json:"window" default:"5" doc:"how many messages on each side"`
}

func messagesAround(ctx context.Context, db *sessiondb.DB, p aroundParams) (any, error) {
	return result(db.MessagesAround(ctx, p.SessionID, p.Anchor, p.Window))
}

type anchoredParams struct {
	aroundParams
	Bookend   int      `json:"bookend" default:"3" doc:"how many messages of each end"`
	KeepRoles []string `json:"keep_roles" default:"[\"user\",\"assistant\"]" null:"all roles" doc:"roles to keep; the message in the middle always stays"`
}

func anchoredView(ctx context.Context, db *sessiondb.DB, p anchoredParams) (any, error) {
	return result(db.AnchoredView(ctx, p.SessionID, p.Anchor, sessiondb.AnchoredOptions{
		Window: p.Window, Bookend: p.Bookend, KeepRoles: p.KeepRoles,
	}))
}

type conversationParams struct {
	ofSession
	IncludeAncestors bool `json:"include_ancestors" default:"false" doc:"put the whole chain of parents before it"`
}
