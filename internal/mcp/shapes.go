package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// The most characters of one message in an answer.
const (
	glimpse = 500  // around a hit
	passage = 4000 // of a session that is read
	whole   = 20000
)

// maxCalls is how many tool calls of one message are shown.
const maxCalls = 20

// message is a message in an answer.
type message struct {
	ID        int64    `json:"message_id"`
	Role      string   `json:"role"`
	Tool      string   `json:"tool,omitempty"`
	Time      string   `json:"time,omitempty"`
	Text      string   `json:"text,omitempty"`
	ToolCalls []string `json:"tool_calls,omitempty"`
	Length    int      `json:"length,omitempty" jsonschema:"characters of the whole text, where it is cut; session_read with message_id gives the rest"`
	Hit       bool     `json:"hit,omitempty" jsonschema:"the message that was asked for"`
}

// shorten makes a message for an answer, its text and its calls of at most
// limit characters each.
func shorten(m sessiondb.Message, limit int) message {
	out := message{ID: m.ID, Role: m.Role, Time: stamp(m.Timestamp)}
	if m.ToolName != nil {
		out.Tool = *m.ToolName
	}
	text := transcript.Text(m.Content)
	out.Text, _ = cut(text, 0, limit)
	if len(out.Text) < len(text) {
		out.Length = utf8.RuneCountInString(text)
	}
	calls := m.ToolCallList()
	for i, c := range calls {
		if i == maxCalls {
			out.ToolCalls = append(out.ToolCalls, fmt.Sprintf("… %d more", len(calls)-i))
			break
		}
		call, next := cut(transcript.Call(c), 0, limit)
		if next > 0 {
			call += "…"
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

func shortenAll(ms []sessiondb.Message, limit int) []message {
	out := make([]message, len(ms))
	for i, m := range ms {
		out[i] = shorten(m, limit)
	}
	return out
}

// size is about what a message costs in an answer.
func (m message) size() int {
	n := 100 + len(m.Text)
	for _, c := range m.ToolCalls {
		n += len(c)
	}
	return n
}

// cut returns limit characters of a text from an offset on, and where it goes
// on; 0 at its end.
func cut(text string, offset, limit int) (part string, next int) {
	start := -1
	n := 0
	for i := range text {
		switch n {
		case offset:
			start = i
		case offset + limit:
			return text[start:i], n
		}
		n++
	}
	if start < 0 {
		return "", 0
	}
	return text[start:], 0
}

// session is a session in an answer.
type session struct {
	ID         string   `json:"session_id"`
	Title      string   `json:"title,omitempty"`
	Source     string   `json:"source"`
	Tags       []string `json:"tags,omitempty" jsonschema:"of its conversation"`
	Model      string   `json:"model,omitempty"`
	Started    string   `json:"started,omitempty"`
	LastActive string   `json:"last_active,omitempty"`
	EndReason  string   `json:"end_reason,omitempty"`
	Messages   int64    `json:"messages" jsonschema:"how many it has"`
	Preview    string   `json:"preview,omitempty" jsonschema:"how it begins"`
}

func sessionOf(s sessiondb.Session) session {
	return session{
		ID: s.ID, Title: deref(s.Title), Source: s.Source, Model: deref(s.Model), Started: stamp(s.StartedAt),
		EndReason: deref(s.EndReason), Messages: s.MessageCount,
	}
}

// described is a session with the tags of its conversation.
func (t tools) described(ctx context.Context, s sessiondb.Session) (session, error) {
	out := sessionOf(s)
	tags, err := t.db.Tags(ctx, s.ID)
	out.Tags = shownTags(tags)
	return out, err
}

func listed(s sessiondb.ListedSession) session {
	out := sessionOf(s.Session)
	out.LastActive, out.Preview, out.Tags = stamp(s.LastActive), s.Preview, shownTags(s.Tags)
	return out
}

// maxTags is how many tags of one conversation are shown.
const maxTags = 20

func shownTags(tags []string) []string {
	if len(tags) <= maxTags {
		return tags
	}
	return append(slices.Clone(tags[:maxTags]), fmt.Sprintf("… %d more", len(tags)-maxTags))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
