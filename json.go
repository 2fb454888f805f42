package sessiondb

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// compactJSON is JSON as it is stored: no spaces, and characters as UTF-8, not
// as \u escapes, so that they can be found. Key order, numbers and duplicate
// keys stay as they are.
func compactJSON(raw json.RawMessage) (string, error) {
	b, err := text.AppendCompact(make([]byte, 0, len(raw)), []byte(raw))
	return string(b), err
}

// The functions below append the members of a JSON object that stands for a
// row: `"column":value,`. A row is rendered as it is stored: an odd value (see
// odd) as such, unless the field was changed since it was read.

// object makes an object of members.
func object(members []byte) []byte {
	if n := len(members); members[n-1] == ',' {
		members = members[:n-1]
	}
	return append(members, '}')
}

func appendKey(b []byte, name string) []byte {
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendText(b []byte, name, s string) []byte {
	return append(text.AppendString(appendKey(b, name), s), ',')
}

func appendNullText(b []byte, name string, s *string) []byte {
	if s == nil {
		return appendNull(b, name)
	}
	return appendText(b, name, *s)
}

func appendNull(b []byte, name string) []byte { return append(appendKey(b, name), "null,"...) }

func (o odd) appendInt(b []byte, name string, n int64) []byte {
	if v, ok := o.int(name, n); ok {
		return appendValue(b, name, v)
	}
	return append(strconv.AppendInt(appendKey(b, name), n, 10), ',')
}

func (o odd) appendNullInt(b []byte, name string, n *int64) []byte {
	if n == nil {
		return appendNull(b, name)
	}
	return o.appendInt(b, name, *n)
}

func (o odd) appendNullFloat(b []byte, name string, f *float64) []byte {
	if v, ok := o.float(name, f); ok {
		return appendValue(b, name, v)
	}
	if f == nil {
		return appendNull(b, name)
	}
	return append(appendFloat(appendKey(b, name), *f), ',')
}

func (o odd) appendTime(b []byte, name string, t time.Time) []byte {
	if v, ok := o.time(name, t); ok {
		return appendValue(b, name, v)
	}
	if t.IsZero() {
		return appendNull(b, name)
	}
	return append(appendFloat(appendKey(b, name), epoch(t)), ',')
}

// appendJSON renders a JSON column: a list, an object, a number or a boolean as
// itself; NULL as null; anything else (a JSON string or null, text that is no
// JSON) as a string of the stored text. So a reader can tell them apart, and
// what is stored can be restored.
func appendJSON(b []byte, name string, raw json.RawMessage) []byte {
	if raw == nil {
		return appendNull(b, name)
	}
	b = appendKey(b, name)
	if showsAsItself(raw) {
		if c, err := text.AppendCompact(b, []byte(raw)); err == nil {
			return append(c, ',')
		}
	}
	return append(text.AppendString(b, []byte(raw)), ',')
}

// showsAsItself tells JSON that is not a string nor null, if it is JSON.
func showsAsItself(raw []byte) bool {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
		case '"', 'n':
			return false
		default:
			return true
		}
	}
	return false
}

// appendContent renders content: null, a string, or the JSON value.
func appendContent(b []byte, c Content) []byte {
	if !c.set {
		return append(b, "null"...)
	}
	if c.parts != nil {
		if b, err := text.AppendCompact(b, []byte(c.parts)); err == nil {
			return b
		}
		return text.AppendString(b, []byte(c.parts))
	}
	return text.AppendString(b, c.text)
}

// appendValue renders whatever a column may hold.
func appendValue(b []byte, name string, v any) []byte {
	b = appendKey(b, name)
	switch v := v.(type) {
	case nil:
		b = append(b, "null"...)
	case int64:
		b = strconv.AppendInt(b, v, 10)
	case float64:
		b = appendFloat(b, v)
	case bool:
		b = strconv.AppendBool(b, v)
	case string:
		b = text.AppendString(b, v)
	default:
		b = text.AppendString(b, fmt.Sprint(v))
	}
	return append(b, ',')
}

// appendFloat writes the shortest number that reads back as the same float.
// JSON has no infinity: that is a string.
func appendFloat(b []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return text.AppendString(b, strconv.FormatFloat(f, 'g', -1, 64))
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendColumns appends the members of a session, in the order of the columns.
func (s *Session) appendColumns(b []byte) []byte {
	o, u, c := s.odd, &s.Usage, &s.Billing
	b = appendText(b, "id", s.ID)
	b = appendText(b, "source", s.Source)
	b = appendNullText(b, "user_id", s.UserID)
	b = appendNullText(b, "model", s.Model)
	b = appendJSON(b, "model_config", s.ModelConfig)
	b = appendNullText(b, "system_prompt", s.SystemPrompt)
	b = appendNullText(b, "parent_session_id", s.ParentID)
	b = o.appendTime(b, "started_at", s.StartedAt)
	b = o.appendTime(b, "ended_at", s.EndedAt)
	b = appendNullText(b, "end_reason", s.EndReason)
	b = o.appendInt(b, "message_count", s.MessageCount)
	b = o.appendInt(b, "tool_call_count", s.ToolCallCount)
	b = o.appendInt(b, "input_tokens", u.Input)
	b = o.appendInt(b, "output_tokens", u.Output)
	b = o.appendInt(b, "cache_read_tokens", u.CacheRead)
	b = o.appendInt(b, "cache_write_tokens", u.CacheWrite)
	b = o.appendInt(b, "reasoning_tokens", u.Reasoning)
	b = appendNullText(b, "billing_provider", c.Provider)
	b = appendNullText(b, "billing_base_url", c.BaseURL)
	b = appendNullText(b, "billing_mode", c.Mode)
	b = o.appendNullFloat(b, "estimated_cost_usd", c.EstimatedCostUSD)
	b = o.appendNullFloat(b, "actual_cost_usd", c.ActualCostUSD)
	b = appendNullText(b, "cost_status", c.CostStatus)
	b = appendNullText(b, "cost_source", c.CostSource)
	b = appendNullText(b, "pricing_version", c.PricingVersion)
	b = appendNullText(b, "title", s.Title)
	b = o.appendInt(b, "api_call_count", s.APICallCount)
	b = appendNullText(b, "handoff_state", s.HandoffState)
	b = appendNullText(b, "handoff_platform", s.HandoffPlatform)
	return appendNullText(b, "handoff_error", s.HandoffError)
}

// appendColumns appends the members of a message, in the order of the columns.
func (m *Message) appendColumns(b []byte) []byte {
	o := m.odd
	b = o.appendInt(b, "id", m.ID)
	b = appendText(b, "session_id", m.SessionID)
	b = appendText(b, "role", m.Role)
	b = append(appendContent(appendKey(b, "content"), m.Content), ',')
	b = appendNullText(b, "tool_call_id", m.ToolCallID)
	b = appendJSON(b, "tool_calls", m.ToolCalls)
	b = appendNullText(b, "tool_name", m.ToolName)
	b = o.appendTime(b, "timestamp", m.Timestamp)
	b = o.appendNullInt(b, "token_count", m.TokenCount)
	b = appendNullText(b, "finish_reason", m.FinishReason)
	b = appendNullText(b, "reasoning", m.Reasoning)
	b = appendNullText(b, "reasoning_content", m.ReasoningContent)
	b = appendJSON(b, "reasoning_details", m.ReasoningDetails)
	b = appendJSON(b, "codex_reasoning_items", m.CodexReasoningItems)
	return appendJSON(b, "codex_message_items", m.CodexMessageItems)
}

// MarshalJSON gives the columns by their names: times as epoch floats,
// model_config and the other JSON columns as the value they hold. A JSON column
// that holds a string, or text that is no JSON, is given as a string of the
// stored text. An encoder that escapes HTML escapes it here too.
func (s Session) MarshalJSON() ([]byte, error) {
	return object(s.appendColumns([]byte{'{'})), nil
}

// MarshalJSON gives the columns by their names, as for a [Session]. Structured
// content is its JSON value.
func (m Message) MarshalJSON() ([]byte, error) {
	return object(m.appendColumns([]byte{'{'})), nil
}
