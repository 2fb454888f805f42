package mcp

import (
	"context"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
)

const (
	appendDoc = `Adds a message to a session.`
	titleDoc  = `Gives a session a title, which no other session may have; an empty one takes it away.`
	tagDoc    = `Puts tags on a conversation, or takes them away, and tells which it has then. A tag is one word of at most 50 characters.`
	endDoc    = `Ends a session. The first reason stays.`
)

type appendParams struct {
	SessionID string `json:"session_id" jsonschema:"the id, the beginning of one, or a title"`
	Role      string `json:"role" jsonschema:"who speaks" oneof:"user assistant tool system"`
	Text      string `json:"text"`
}

type appendResult struct {
	SessionID string `json:"session_id"`
	MessageID int64  `json:"message_id"`
}

func (t tools) append(ctx context.Context, p appendParams) (appendResult, error) {
	s, err := t.exactly(ctx, p.SessionID)
	if err != nil {
		return appendResult{}, err
	}
	id, err := t.db.AppendMessage(ctx, s.ID, sessiondb.Message{Role: p.Role, Content: sessiondb.Text(p.Text)})
	return appendResult{SessionID: s.ID, MessageID: id}, err
}

type titleParams struct {
	SessionID string `json:"session_id" jsonschema:"the id, the beginning of one, or a title"`
	Title     string `json:"title" jsonschema:"at most 100 characters"`
}

type sessionResult struct {
	Session session `json:"session"`
}

func (t tools) title(ctx context.Context, p titleParams) (sessionResult, error) {
	return t.change(ctx, p.SessionID, func(id string) error { return t.db.SetTitle(ctx, id, p.Title) })
}

type tagParams struct {
	SessionID string   `json:"session_id" jsonschema:"the id, the beginning of one, or a title"`
	Add       []string `json:"add,omitempty" jsonschema:"tags to put on it"`
	Remove    []string `json:"remove,omitempty" jsonschema:"tags to take away"`
}

func (t tools) tag(ctx context.Context, p tagParams) (sessionResult, error) {
	if len(p.Add)+len(p.Remove) == 0 {
		return sessionResult{}, fmt.Errorf("neither add nor remove: give tags in one of them: %w", sessiondb.ErrInvalid)
	}
	return t.change(ctx, p.SessionID, func(id string) error {
		_, err := t.db.Tag(ctx, id, p.Add, p.Remove)
		return err
	})
}

type endParams struct {
	SessionID string `json:"session_id" jsonschema:"the id, the beginning of one, or a title"`
	Reason    string `json:"reason" jsonschema:"why, such as user_exit"`
}

func (t tools) end(ctx context.Context, p endParams) (sessionResult, error) {
	if p.Reason == "" {
		return sessionResult{}, fmt.Errorf("the reason is empty: %w", sessiondb.ErrInvalid)
	}
	return t.change(ctx, p.SessionID, func(id string) error { return t.db.EndSession(ctx, id, p.Reason) })
}

// change does something to a session and tells what it is then.
func (t tools) change(ctx context.Context, ref string, do func(id string) error) (sessionResult, error) {
	s, err := t.exactly(ctx, ref)
	if err == nil {
		err = do(s.ID)
	}
	if err == nil {
		s, err = t.db.Session(ctx, s.ID)
	}
	if err != nil {
		return sessionResult{}, err
	}
	out, err := t.described(ctx, s)
	return sessionResult{out}, err
}
