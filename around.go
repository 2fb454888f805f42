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

func messagesAround(ctx context.Context, q engine.Queryer, sessionID string, anchor int64, window int) (MessagesAround, error) {
	var s stretch
	var ms []Message
	ids, err := messageIDs(ctx, q, sessionID)
	if err == nil {
		s = stretchOf(ids, anchor, window)
		ms, err = messagesWith(ctx, q, s.ids[s.from:s.to])
	}
	if err != nil {
		return MessagesAround{Window: []Message{}}, err
	}
	return s.window(ms), nil
}

// messageIDs returns the ids of a session, in order. An index has them, and to
// look through all of them once is cheaper than to have them sorted for each
// part of a view.
func messageIDs(ctx context.Context, q engine.Queryer, sessionID string) (ids []int64, err error) {
	var id int64
	target := []any{&id}
	err = eachRow(ctx, q, func(r engine.Rows) error {
		err := r.Scan(target...)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM messages WHERE session_id = ?`, sessionID)
	slices.Sort(ids)
	return ids, err
}

// stretch is a part of a session: those of ids[from:to] around an anchor.
type stretch struct {
	ids      []int64 // of the whole session
	from, to int     // both 0 where the anchor is none of them
	anchor   int64
}

func stretchOf(ids []int64, anchor int64, window int) stretch {
	i, found := slices.BinarySearch(ids, anchor)
	if !found {
		return stretch{}
	}
	window = max(window, 0)
	return stretch{ids: ids, from: i - min(window, i), to: i + 1 + min(window, len(ids)-i-1), anchor: anchor}
}

// window is the stretch, its messages taken from ms.
func (s stretch) window(ms []Message) MessagesAround {
	w := pick(ms, s.ids[s.from:s.to])
	at := slices.IndexFunc(w, func(m Message) bool { return m.ID == s.anchor })
	if at < 0 {
		return MessagesAround{Window: []Message{}}
	}
	return MessagesAround{Window: w, MessagesBefore: at, MessagesAfter: len(w) - 1 - at}
}

// near is the anchor and what is right beside it in the stretch.
func (s stretch) near() []int64 {
	i, _ := slices.BinarySearch(s.ids, s.anchor)
	return s.ids[max(s.from, i-1):min(s.to, i+2)]
}

// pick returns the messages of ids; both are in order.
func pick(ms []Message, ids []int64) []Message {
	out := make([]Message, 0, len(ids))
	for _, id := range ids {
		if m := find(ms, id); m != nil {
			out = append(out, *m)
		}
	}
	return out
}

// find returns the message of an id, nil where it is not among ms, which are in
// order.
func find(ms []Message, id int64) *Message {
	from, to := 0, len(ms)
	for from < to {
		if i := int(uint(from+to) / 2); ms[i].ID < id {
			from = i + 1
		} else {
			to = i
		}
	}
	if from == len(ms) || ms[from].ID != id {
		return nil
	}
	return &ms[from]
}

// idBatch is how many messages are read by id at once. What is left of a batch
// stays NULL, so that the statement is always the same.
const idBatch = 64

var messagesWithSQL = messagesByID(placeholders(idBatch))

// messagesWith reads messages by id; ids must be in order.
func messagesWith(ctx context.Context, q engine.Queryer, ids []int64) ([]Message, error) {
	return appendWith(ctx, q, make([]Message, 0, len(ids)), ids)
}

func appendWith(ctx context.Context, q engine.Queryer, out []Message, ids []int64) (_ []Message, err error) {
	for batch := range slices.Chunk(ids, idBatch) {
		var args [idBatch]any
		for i, id := range batch {
			args[i] = id
		}
		if out, err = appendMessages(ctx, q, out, messagesWithSQL, args[:]...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// afterSQL selects the next messages of a session. The unary plus keeps a planner
// from walking the rows of the whole table by id, where an index has the ids of
// the session.
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
