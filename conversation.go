package sessiondb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
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

// Conversation returns a session in the form that is sent to a model. Recalled
// memory that was put into the text of user and assistant messages is taken
// out. With ancestors the whole chain of parents comes first, and a user
// message that repeats an earlier one, with no answer in between, is dropped.
// An unknown session has no messages.
func (db *DB) Conversation(ctx context.Context, sessionID string, ancestors bool) (out []ConversationMessage, err error) {
	defer wrap(&err, "conversation of %s", sessionID)
	var ms []Message
	err = db.readPast(ctx, func(q engine.Queryer) error {
		ms, err = chainMessages(ctx, q, sessionID, ancestors)
		return err
	})
	if damage := (*DamageError)(nil); err != nil && !errors.As(err, &damage) {
		return nil, err
	}
	db.warnMalformed(ms)
	out = make([]ConversationMessage, 0, len(ms))
	asked := map[string]bool{} // what the user said since the last answer
	for i := range ms {
		c := chatForm(&ms[i])
		if ancestors && repeats(c, asked) {
			continue
		}
		out = append(out, c)
	}
	return out, err
}

// chainMessages reads the messages of a session, and before them those of its
// chain of parents if wanted, root first. A delegate works while its parent goes
// on, so those two stand in the order in which they spoke.
func chainMessages(ctx context.Context, q engine.Queryer, id string, withParents bool) ([]Message, error) {
	ms, err := sessionMessages(ctx, q, id)
	parts := [][]Message{ms} // from the last to the first
	for seen := map[string]bool{id: true}; withParents && err == nil; seen[id] = true {
		var kind Kind
		child := id
		if id, kind, err = originOf(ctx, q, child); err != nil || id == "" || seen[id] {
			break
		}
		var from map[string]orphan
		if kind == Branch {
			if from, err = branchedFrom(ctx, q, child); from[child].kind == forked && from[child].parent == id {
				continue // a fork holds what its parent said
			}
		}
		if err == nil {
			ms, err = sessionMessages(ctx, q, id)
		}
		if err != nil {
			break
		}
		if from[child].kind == resumed {
			ms = until(ms, parts[len(parts)-1])
		}
		parts = append(parts, ms)
		if kind == Delegate {
			ms = joinBackwards(parts)
			slices.SortStableFunc(ms, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) })
			parts = [][]Message{ms}
		}
	}
	return joinBackwards(parts), err
}

// until leaves out what was said after others began: the session that they went on from
// may have gone on as well.
func until(ms, others []Message) []Message {
	if len(others) == 0 || others[0].Timestamp.IsZero() {
		return ms
	}
	return slices.DeleteFunc(ms, func(m Message) bool { return m.Timestamp.After(others[0].Timestamp) })
}

// joinBackwards joins parts, the last one first.
func joinBackwards(parts [][]Message) []Message {
	slices.Reverse(parts)
	return slices.Concat(parts...)
}

func chatForm(m *Message) ConversationMessage {
	assistant := m.Role == "assistant"
	content := m.Content
	if content.set && content.parts == nil && (assistant || m.Role == "user") {
		content = Text(text.StripMemory(content.text))
	}
	c := ConversationMessage{
		Role:       m.Role,
		Content:    appendContent(nil, content),
		ToolCallID: deref(m.ToolCallID),
		ToolName:   deref(m.ToolName),
		ToolCalls:  chatValue(m.ToolCalls),
	}
	if assistant {
		c.FinishReason = deref(m.FinishReason)
		c.Reasoning = deref(m.Reasoning)
		c.ReasoningContent = m.ReasoningContent
		c.ReasoningDetails = chatValue(m.ReasoningDetails)
		c.CodexReasoningItems = chatValue(m.CodexReasoningItems)
		c.CodexMessageItems = chatValue(m.CodexMessageItems)
	}
	return c
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// chatValue is the value of a JSON column; nil if it holds none.
func chatValue(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	b, err := text.AppendCompact(make([]byte, 0, len(raw)), []byte(raw))
	if err != nil || string(b) == "null" {
		return nil
	}
	return b
}

// repeats reports whether a user message says what was said since the last
// answer, and takes note of it.
func repeats(c ConversationMessage, asked map[string]bool) bool {
	said := string(c.Content)
	if said == "null" || said == `""` {
		said = ""
	}
	switch c.Role {
	case "assistant":
		if said != "" || c.ToolCalls != nil {
			clear(asked)
		}
	case "user":
		if said == "" {
			return false
		}
		if asked[said] {
			return true
		}
		asked[said] = true
	}
	return false
}
