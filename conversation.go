package sessiondb

import (
	"context"
	"encoding/json"
)

// ConversationMessage is a message in the OpenAI chat form.
type ConversationMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // a JSON string, a list of parts, or null
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolName   string          `json:"tool_name,omitempty"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`

	FinishReason        string          `json:"finish_reason,omitempty"`
	Reasoning           string          `json:"reasoning,omitempty"`
	ReasoningContent    *string         `json:"reasoning_content,omitempty"`
	ReasoningDetails    json.RawMessage `json:"reasoning_details,omitempty"`
	CodexReasoningItems json.RawMessage `json:"codex_reasoning_items,omitempty"`
	CodexMessageItems   json.RawMessage `json:"codex_message_items,omitempty"`
}

// Conversation returns a session in the form that is sent to a model. With
// ancestors the whole chain of parents comes first, and a user message that
// repeats an earlier one, with no answer in between, is dropped.
func (db *DB) Conversation(ctx context.Context, sessionID string, ancestors bool) ([]ConversationMessage, error) {
	panic("todo")
}
