package sessiondb

import (
	"strconv"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// MarshalJSON gives the columns of the session and "preview", "last_active",
// "_lineage_root_id" where the session stands for a compressed root, and "tags"
// where it has some.
func (s ListedSession) MarshalJSON() ([]byte, error) {
	b := s.appendColumns([]byte{'{'})
	b = appendText(b, "preview", s.Preview)
	b = odd(nil).appendTime(b, "last_active", s.LastActive)
	if s.LineageRoot != "" {
		b = appendText(b, "_lineage_root_id", s.LineageRoot)
	}
	if len(s.Tags) > 0 {
		b = appendTexts(b, "tags", s.Tags)
	}
	return object(b), nil
}

// MarshalJSON gives the columns of the session, "kind" and "depth".
func (n LineageNode) MarshalJSON() ([]byte, error) {
	b := appendText(n.appendColumns([]byte{'{'}), "kind", string(n.Kind))
	return object(appendCount(b, "depth", int64(n.Depth))), nil
}

// MarshalJSON gives the documented keys: "id" is that of the message.
func (h SearchHit) MarshalJSON() ([]byte, error) {
	b := appendCount([]byte{'{'}, "id", h.MessageID)
	b = appendText(b, "session_id", h.SessionID)
	b = appendText(b, "role", h.Role)
	b = appendText(b, "snippet", h.Snippet)
	b = odd(nil).appendTime(b, "timestamp", h.Timestamp)
	b = appendNullText(b, "tool_name", h.ToolName)
	b = appendText(b, "source", h.Source)
	b = appendNullText(b, "model", h.Model)
	b = odd(nil).appendTime(b, "session_started", h.SessionStarted)
	b = append(appendKey(b, "context"), '[')
	for i, c := range h.Context {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, '{'), "role", c.Role)
		b = append(text.AppendString(appendKey(b, "content"), c.Content), '}')
	}
	return append(b, ']', '}'), nil
}

// MarshalJSON gives "key", "sessions", and the sums by the names of the columns
// they come from.
func (r UsageRow) MarshalJSON() ([]byte, error) {
	b := appendText([]byte{'{'}, "key", r.Key)
	b = appendCount(b, "sessions", r.Sessions)
	b = appendCount(b, "input_tokens", r.Tokens.Input)
	b = appendCount(b, "output_tokens", r.Tokens.Output)
	b = appendCount(b, "cache_read_tokens", r.Tokens.CacheRead)
	b = appendCount(b, "cache_write_tokens", r.Tokens.CacheWrite)
	b = appendCount(b, "reasoning_tokens", r.Tokens.Reasoning)
	b = appendCount(b, "api_call_count", r.APICalls)
	b = odd(nil).appendNullFloat(b, "estimated_cost_usd", r.EstimatedCostUSD)
	return object(odd(nil).appendNullFloat(b, "actual_cost_usd", r.ActualCostUSD)), nil
}

// MarshalJSON gives "deleted", the number of sessions, and what went with them.
func (r DeleteReport) MarshalJSON() ([]byte, error) {
	b := appendCount([]byte{'{'}, "deleted", int64(len(r.Sessions)))
	b = appendTexts(b, "sessions", r.Sessions)
	b = appendCount(b, "messages", r.Messages)
	b = appendTexts(b, "orphaned", r.Orphaned)
	b = appendTexts(b, "files", r.Files)
	b = appendTexts(b, "file_errors", r.FileErrors)
	b = appendCount(b, "skipped_open", r.SkippedOpen)
	return object(appendTexts(b, "referenced", r.Referenced)), nil
}

// MarshalJSON gives "skipped", "pruned", "vacuumed" and "error", which is null
// when nothing went wrong.
func (r MaintenanceResult) MarshalJSON() ([]byte, error) {
	b := appendValue([]byte{'{'}, "skipped", r.Skipped)
	b = appendCount(b, "pruned", r.Pruned)
	b = appendValue(b, "vacuumed", r.Vacuumed)
	if r.Err == nil {
		return object(appendNull(b, "error")), nil
	}
	return object(appendText(b, "error", r.Err.Error())), nil
}

func appendCount(b []byte, name string, n int64) []byte {
	return append(strconv.AppendInt(appendKey(b, name), n, 10), ',')
}

// appendTexts renders a list, an empty one for nil.
func appendTexts(b []byte, name string, list []string) []byte {
	b = append(appendKey(b, name), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = text.AppendString(b, s)
	}
	return append(b, "],"...)
}

// MarshalJSON gives the columns of the session, "trash_id", the counts "sessions"
// and "messages" of the conversation, "deleted_at" and "expires_at".
func (t Trashed) MarshalJSON() ([]byte, error) {
	b := appendText(t.Session.appendColumns([]byte{'{'}), "trash_id", t.ID)
	b = appendCount(b, "sessions", t.Sessions)
	b = appendCount(b, "messages", t.Messages)
	b = odd(nil).appendTime(b, "deleted_at", t.DeletedAt)
	return object(odd(nil).appendTime(b, "expires_at", t.ExpiresAt)), nil
}

// MarshalJSON gives "restored", the number of sessions, and what they are.
func (r TrashRestored) MarshalJSON() ([]byte, error) {
	b := appendCount([]byte{'{'}, "restored", int64(len(r.Sessions)))
	b = appendTexts(b, "sessions", r.Sessions)
	b = appendCount(b, "messages", r.Messages)
	b = appendTexts(b, "untitled", r.Untitled)
	return object(appendTexts(b, "rejoined", r.Rejoined)), nil
}
