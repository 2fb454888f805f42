package mcp

import (
	"context"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

const readDoc = `Reads a session from its beginning, or goes on from a cursor or after a message. Long texts are cut and say their length; message_id reads one message whole, in parts by cursor.`

type readParams struct {
	SessionID string `json:"session_id" jsonschema:"the id, the beginning of one, or a title"`
	MessageID int64  `json:"message_id,omitempty" jsonschema:"read only this message, whole"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"next_cursor of the answer before"`
	Limit     int    `json:"limit,omitempty" jsonschema:"at most so many messages" range:"1 100" default:"40"`
}

type readResult struct {
	Session  session   `json:"session"`
	Parent   string    `json:"parent_session_id,omitempty" jsonschema:"the session that this one continues or came from"`
	Messages []message `json:"messages"`
	Next     string    `json:"next_cursor,omitempty" jsonschema:"there is more; give it back as cursor"`
}

const (
	budget  = 40000 // about so many bytes of messages an answer holds
	maxRead = 100   // and at most so many messages
)

func (t tools) read(ctx context.Context, p readParams) (readResult, error) {
	s, err := t.session(ctx, p.SessionID)
	if err != nil {
		return readResult{}, err
	}
	about, err := t.described(ctx, s)
	if err != nil {
		return readResult{}, err
	}
	out := readResult{Session: about, Parent: deref(s.ParentID), Messages: []message{}}
	if p.MessageID != 0 {
		return t.readWhole(ctx, out, p)
	}
	after, err := place(byMessage, p.Cursor)
	if err != nil {
		return readResult{}, err
	}
	ms, err := t.db.MessagesAfter(ctx, s.ID, after, p.Limit+1)
	room := budget
	for i, m := range ms {
		short := shorten(m, passage)
		if room -= short.size(); i == p.Limit || i > 0 && room < 0 {
			out.Next = cursor(byMessage, ms[i-1].ID)
			break
		}
		out.Messages = append(out.Messages, short)
	}
	return out, err
}

// readWhole reads one message, a part of its text at a time.
func (t tools) readWhole(ctx context.Context, out readResult, p readParams) (readResult, error) {
	offset, err := offset(p.Cursor)
	if err != nil {
		return readResult{}, err
	}
	found, err := t.db.MessagesAround(ctx, out.Session.ID, p.MessageID, 0)
	if err == nil && len(found.Window) == 0 {
		err = fmt.Errorf("message %d is not in session %s: %w", p.MessageID, out.Session.ID, sessiondb.ErrNotFound)
	}
	if err != nil {
		return readResult{}, err
	}
	m := shorten(found.Window[0], whole)
	part, next := cut(transcript.Text(found.Window[0].Content), offset, whole)
	m.Text, m.Hit = part, true
	if next > 0 {
		out.Next = cursor(byOffset, int64(next))
	}
	out.Messages = append(out.Messages, m)
	return out, nil
}
