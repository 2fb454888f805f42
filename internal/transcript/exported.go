package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Writer gets sessions one after the other, each a message at a time.
type Writer interface {
	Begin(s sessiondb.Session, kind sessiondb.Kind) error
	Message(m sessiondb.Message) error
	End() error
}

// Exported reads the JSON lines of an export, in which secrets may be masked, and
// hands what people read of them to w. It holds one message in memory, not a
// session.
func Exported(lines io.Reader, w Writer) error {
	dec := json.NewDecoder(lines)
	for {
		switch err := expect(dec, '{'); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := session(dec, w); err != nil {
			return err
		}
	}
}

// expect reads a bracket.
func expect(dec *json.Decoder, want json.Delim) error {
	t, err := dec.Token()
	if err == nil && t != want {
		err = fmt.Errorf("no export: %v where %v was to come", t, want)
	}
	return err
}

// session reads a session, whose messages come last.
func session(dec *json.Decoder, w Writer) error {
	columns := map[string]any{}
	begun := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key == "messages" {
			begun = true
			if err := w.Begin(sessionOf(columns), kindOf(columns)); err != nil {
				return err
			}
			if err := messages(dec, w); err != nil {
				return err
			}
			continue
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if name, ok := key.(string); ok {
			columns[name] = v
		}
	}
	if !begun {
		if err := w.Begin(sessionOf(columns), kindOf(columns)); err != nil {
			return err
		}
	}
	return errors.Join(expect(dec, '}'), w.End())
}

func messages(dec *json.Decoder, w Writer) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		var columns map[string]json.RawMessage
		if err := dec.Decode(&columns); err != nil {
			return err
		}
		if err := w.Message(messageOf(columns)); err != nil {
			return err
		}
	}
	return expect(dec, ']')
}

func sessionOf(columns map[string]any) (s sessiondb.Session) {
	s.ID, s.Source = word(columns["id"]), word(columns["source"])
	s.Title, s.Model, s.EndReason = maybe(columns["title"]), maybe(columns["model"]), maybe(columns["end_reason"])
	s.ParentID = maybe(columns["parent_session_id"])
	s.StartedAt, s.EndedAt = moment(columns["started_at"]), moment(columns["ended_at"])
	return s
}

func kindOf(columns map[string]any) sessiondb.Kind { return sessiondb.Kind(word(columns["kind"])) }

func messageOf(columns map[string]json.RawMessage) (m sessiondb.Message) {
	value := func(name string) (v any) {
		_ = json.Unmarshal(columns[name], &v) // it was read as JSON
		return v
	}
	_ = json.Unmarshal(columns["id"], &m.ID) // an id is a number, or else 0 serves as well
	m.Role, m.ToolName = word(value("role")), maybe(value("tool_name"))
	m.Timestamp, m.Reasoning = moment(value("timestamp")), maybe(value("reasoning"))
	if m.Reasoning == nil {
		m.Reasoning = maybe(value("reasoning_content"))
	}
	if calls := columns["tool_calls"]; string(calls) != "null" {
		m.ToolCalls = calls
	}
	switch content := value("content").(type) {
	case nil:
	case string:
		m.Content = sessiondb.Text(content)
	default:
		m.Content = sessiondb.Structured(columns["content"])
	}
	return m
}

// word is a value as text: a column may hold a number, too.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func maybe(v any) *string {
	if v == nil {
		return nil
	}
	s := word(v)
	return &s
}

func moment(v any) time.Time {
	seconds, ok := v.(float64)
	if !ok || math.Abs(seconds) > 1e11 {
		return time.Time{}
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9))
}
