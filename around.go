package sessiondb

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// MessagesAround is a window of a session around one of its messages.
type MessagesAround struct {
	Window         []Message `json:"window"`          // by id; empty when the anchor is not in the session
	MessagesBefore int       `json:"messages_before"` // how many of the window stand before the anchor
	MessagesAfter  int       `json:"messages_after"`
}

// MessagesAround returns up to window messages before the anchor, the anchor,
// and up to window after. A negative window is 0.
func (db *DB) MessagesAround(ctx context.Context, sessionID string, anchor int64, window int) (w MessagesAround, err error) {
	defer wrap(&err, "messages around %d of %s", anchor, sessionID)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		w, err = messagesAround(ctx, q, sessionID, anchor, window)
		return err
	})
	db.warnMalformed(w.Window)
	return w, err
}

// windowSQL selects a window: up to the anchor, and after it. The unary plus
// keeps a planner from walking the rows of the whole table by id, where an index
// has the ids of the session.
var windowSQL = messagesByID(`SELECT id FROM (
  SELECT id FROM messages WHERE session_id = ? AND +id <= ? ORDER BY +id DESC LIMIT ?) up_to
 UNION ALL SELECT id FROM (
  SELECT id FROM messages WHERE session_id = ? AND +id > ? ORDER BY +id LIMIT ?) past`)

func messagesAround(ctx context.Context, q engine.Queryer, sessionID string, anchor int64, window int) (MessagesAround, error) {
	window = max(window, 0)
	ms, err := queryMessages(ctx, q, windowSQL, sessionID, anchor, int64(window)+1, sessionID, anchor, window)
	at := slices.IndexFunc(ms, func(m Message) bool { return m.ID == anchor })
	if err != nil || at < 0 {
		return MessagesAround{Window: []Message{}}, err
	}
	return MessagesAround{Window: ms, MessagesBefore: at, MessagesAfter: len(ms) - 1 - at}, nil
}

// afterSQL selects the next messages of a session; see windowSQL.
var afterSQL = messagesByID(`SELECT id FROM messages WHERE session_id = ? AND +id > ? ORDER BY +id LIMIT ?`)

// MessagesAfter returns up to limit messages of a session that come after the
// message of an id, in the order of the conversation; 0 begins at the first. The
// id may be that of a message that is gone, or of another session. An unknown
// session has no messages.
func (db *DB) MessagesAfter(ctx context.Context, sessionID string, after int64, limit int) (out []Message, err error) {
	defer wrap(&err, "messages of %s after %d", sessionID, after)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = queryMessages(ctx, q, afterSQL, sessionID, after, max(limit, 0))
		return err
	})
	db.warnMalformed(out)
	return out, err
}

// AnchoredView is a window and the two ends of its session. The counts of the
// window are those before it was filtered by role.
type AnchoredView struct {
	MessagesAround
	BookendStart []Message `json:"bookend_start"` // the first messages of the session outside the window
	BookendEnd   []Message `json:"bookend_end"`   // the last ones
}

// AnchoredOptions shapes an [AnchoredView]. Window and Bookend count messages.
// KeepRoles nil means all roles.
type AnchoredOptions struct {
	Window, Bookend int
	KeepRoles       []string
}

func (o AnchoredOptions) keeps(role string) bool {
	return o.KeepRoles == nil || slices.Contains(o.KeepRoles, role)
}

// AnchoredView returns a window filtered by role (the anchor always stays) and
// the first and last Bookend messages of the session that lie outside it, have
// one of the roles, and have content.
func (db *DB) AnchoredView(ctx context.Context, sessionID string, anchor int64, o AnchoredOptions) (v AnchoredView, err error) {
	defer wrap(&err, "anchored view of %d of %s", anchor, sessionID)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		v, err = anchoredView(ctx, q, sessionID, anchor, o)
		return err
	})
	db.warnMalformed(slices.Concat(v.BookendStart, v.Window, v.BookendEnd))
	return v, err
}

func anchoredView(ctx context.Context, q engine.Queryer, sessionID string, anchor int64, o AnchoredOptions) (AnchoredView, error) {
	w, err := messagesAround(ctx, q, sessionID, anchor, o.Window)
	v := AnchoredView{MessagesAround: w, BookendStart: []Message{}, BookendEnd: []Message{}}
	if err != nil || len(w.Window) == 0 {
		return v, err
	}
	first, last := w.Window[0].ID, w.Window[len(w.Window)-1].ID
	v.Window = slices.DeleteFunc(v.Window, func(m Message) bool { return m.ID != anchor && !o.keeps(m.Role) })
	if w.MessagesBefore >= o.Window { // else nothing stands before the window
		if v.BookendStart, err = bookend(ctx, q, bookendStartSQL, sessionID, first, o); err != nil {
			return v, err
		}
	}
	if w.MessagesAfter >= o.Window {
		v.BookendEnd, err = bookend(ctx, q, bookendEndSQL, sessionID, last, o)
		slices.Reverse(v.BookendEnd)
	}
	return v, err
}

// The messages outside a window, from the end of the session on.
var (
	bookendStartSQL = messagesByID(`SELECT id FROM messages WHERE session_id = ? AND +id < ?`)
	bookendEndSQL   = messagesByID(`SELECT id FROM messages WHERE session_id = ? AND +id > ?`) + ` DESC`
)

// bookend reads until it has enough messages that count.
func bookend(ctx context.Context, q engine.Queryer, query, sessionID string, edge int64, o AnchoredOptions) ([]Message, error) {
	out := []Message{}
	if o.Bookend <= 0 {
		return out, nil
	}
	err := eachMessage(ctx, q, func(m *Message) error {
		if o.keeps(m.Role) && !m.Content.isEmpty() {
			out = append(out, *m)
		}
		if len(out) == o.Bookend {
			return errStop
		}
		return nil
	}, query, sessionID, edge)
	return out, err
}
