package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// hermes reads the transcripts that Hermes Agent kept before its database: a
// file a session, which its name is, and a message a line, as it is sent to a
// model. A line of the role session_meta tells of the session.
type hermes struct {
	queue
	in *lines
	is sessiondb.TranscriptSession
}

func newHermes(name string, in *lines) *hermes {
	h := &hermes{in: in}
	h.is.ID, h.is.Source = name, sessiondb.UnknownSource
	in.session = name
	return h
}

// hermesLine is a line. Its members have the names of columns.
type hermesLine struct {
	Role, Name              string
	Model, Source, Platform string
	Content, Timestamp      json.RawMessage
	ToolCalls               json.RawMessage `json:"tool_calls"`
	ToolCallID              *string         `json:"tool_call_id"`
	ToolName                *string         `json:"tool_name"`
	FinishReason            *string         `json:"finish_reason"`
	Reasoning               *string
	ReasoningContent        *string         `json:"reasoning_content"`
	ReasoningDetails        json.RawMessage `json:"reasoning_details"`
	CodexReasoningItems     json.RawMessage `json:"codex_reasoning_items"`
	CodexMessageItems       json.RawMessage `json:"codex_message_items"`
}

// Next implements [sessiondb.Transcript].
func (h *hermes) Next() (sessiondb.TranscriptMessage, error) {
	return h.next(h.in, h.line, nil)
}

// Session implements [sessiondb.Transcript].
func (h *hermes) Session(string) sessiondb.TranscriptSession { return h.is }

func (h *hermes) line(raw []byte) error {
	var l hermesLine
	if err := decode(raw, &l); err != nil {
		return err
	}
	h.in.known = h.in.known || l.Role != ""
	at := anyTime(l.Timestamp)
	if h.is.StartedAt.IsZero() {
		h.is.StartedAt = at
	}
	switch l.Role {
	case "":
		return errors.New("it has no role")
	case "session_meta":
		h.meta(&l)
		return nil
	}
	if l.ToolName == nil && l.Role == "tool" {
		l.ToolName = stringOrNil(l.Name)
	}
	h.add(sessiondb.TranscriptMessage{SessionID: h.is.ID, Key: digest(raw), Line: h.in.n, Message: sessiondb.Message{
		Role: l.Role, Content: content(l.Content), Timestamp: at, ToolCalls: something(l.ToolCalls), ToolCallID: l.ToolCallID, ToolName: l.ToolName,
		FinishReason: l.FinishReason, Reasoning: l.Reasoning, ReasoningContent: l.ReasoningContent, ReasoningDetails: something(l.ReasoningDetails),
		CodexReasoningItems: something(l.CodexReasoningItems), CodexMessageItems: something(l.CodexMessageItems),
	}})
	return nil
}

func (h *hermes) meta(l *hermesLine) {
	h.is.Model = stringOrNil(l.Model)
	for _, source := range []string{l.Platform, l.Source} {
		if source != "" {
			h.is.Source = source
		}
	}
}

// content is what a message says: nothing, text, or parts.
func content(raw json.RawMessage) sessiondb.Content {
	var s string
	switch raw = something(raw); {
	case raw == nil:
		return sessiondb.Content{}
	case json.Unmarshal(raw, &s) == nil:
		return sessiondb.Text(s)
	}
	return sessiondb.Structured(raw)
}

// something is JSON that is not null.
func something(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// anyTime reads a time as text or as seconds since 1970.
func anyTime(raw json.RawMessage) time.Time {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return parseTime(s)
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f <= 0 || f > 1e11 {
		return time.Time{}
	}
	whole, part := math.Modf(f)
	return time.Unix(int64(whole), int64(part*1e9))
}
