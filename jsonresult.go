package sessiondb

import (
	"strconv"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// MarshalJSON gives the columns of the session and "preview", "last_active"
// and, where the session stands for a compressed root, "_lineage_root_id".
func (s ListedSession) MarshalJSON() ([]byte, error) {
	b := s.appendColumns([]byte{'{'})
	b = appendText(b, "preview", s.Preview)
	b = odd(nil).appendTime(b, "last_active", s.LastActive)
	if s.LineageRoot != "" {
		b = appendText(b, "_lineage_root_id", s.LineageRoot)
	}
	return object(b), nil
}

// MarshalJSON gives the columns of the session, "kind" and "depth".
func (n LineageNode) MarshalJSON() ([]byte, error) {
	b := appendText(n.appendColumns([]byte{'{'}), "kind", string(n.Kind))
	b = strconv.AppendInt(appendKey(b, "depth"), int64(n.Depth), 10)
	return object(b), nil
}

// MarshalJSON gives the documented keys: "id" is that of the message.
func (h SearchHit) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(appendKey([]byte{'{'}, "id"), h.MessageID, 10)
	b = appendText(append(b, ','), "session_id", h.SessionID)
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
