package sessiondb

import (
	"context"
	"slices"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

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
func (db *DB) AnchoredView(ctx context.Context, sessionID string, message int64, o AnchoredOptions) (v AnchoredView, err error) {
	defer wrap(&err, "anchored view of %d of %s", message, sessionID)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		list, err := surround(ctx, q, []anchor{{sessionID, message}}, o)
		if err == nil {
			v = list[0].view
		}
		return err
	})
	db.warnMalformed(slices.Concat(v.BookendStart, v.Window, v.BookendEnd))
	return v, err
}

// anchor is a message to be shown with what surrounds it.
type anchor struct {
	session string
	message int64
}

// surroundings are what is shown with an anchor.
type surroundings struct {
	view AnchoredView
	near []Message // the one before, the anchor, the one after; at most a window
}

// surround reads the surroundings of anchors. The messages of all of them are
// read together.
func surround(ctx context.Context, q engine.Queryer, anchors []anchor, o AnchoredOptions) ([]surroundings, error) {
	parts := make([]stretch, len(anchors))
	var wanted []int64
	for i, a := range anchors {
		ids, err := messageIDs(ctx, q, a.session)
		if err != nil {
			return nil, err
		}
		s := stretchOf(ids, a.message, o.Window)
		head, _ := cut(s.ids[:s.from], o.likely(), false)
		tail, _ := cut(s.ids[s.to:], o.likely(), true)
		wanted = append(append(append(wanted, head...), s.ids[s.from:s.to]...), tail...)
		parts[i] = s
	}
	slices.Sort(wanted)
	room := messageRoom.Get().(*[]Message)
	defer freeRoom(room)
	ms, err := appendWith(ctx, q, *room, slices.Compact(wanted))
	*room = ms
	if err != nil {
		return nil, err
	}
	out := make([]surroundings, len(anchors))
	for i, s := range parts {
		out[i].near = pick(ms, s.near())
		if out[i].view, err = s.view(ctx, q, ms, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// kept is how many messages a bookend holds, as far as room is made for them.
func (o AnchoredOptions) kept() int { return min(max(o.Bookend, 0), maxHint) }

// messageRoom is room for the messages that views are made of. They copy what they
// show, and to touch fresh memory each time would cost as much as to read them.
var messageRoom = sync.Pool{New: func() any { return new([]Message) }}

func freeRoom(room *[]Message) {
	if cap(*room) > maxHint {
		return
	}
	clear(*room)
	*room = (*room)[:0]
	messageRoom.Put(room)
}

// likely is how many messages most often hold enough for a bookend.
func (o AnchoredOptions) likely() int {
	if o.Bookend <= 0 {
		return 0
	}
	return o.kept() * 2
}

// cut cuts n ids off, the first or the last ones.
func cut(ids []int64, n int, last bool) (off, rest []int64) {
	n = min(n, len(ids))
	if last {
		return ids[len(ids)-n:], ids[:len(ids)-n]
	}
	return ids[:n], ids[n:]
}

// view is the view of a stretch; ms are messages that were read.
func (s stretch) view(ctx context.Context, q engine.Queryer, ms []Message, o AnchoredOptions) (v AnchoredView, err error) {
	v = AnchoredView{MessagesAround: s.window(ms), BookendStart: []Message{}, BookendEnd: []Message{}}
	if len(v.Window) == 0 {
		return v, nil
	}
	v.Window = slices.DeleteFunc(v.Window, func(m Message) bool { return m.ID != s.anchor && !o.keeps(m.Role) })
	if v.BookendStart, err = o.bookend(ctx, q, ms, s.ids[:s.from], false); err != nil {
		return v, err
	}
	if v.BookendEnd, err = o.bookend(ctx, q, ms, s.ids[s.to:], true); err != nil {
		return v, err
	}
	return v, nil
}

// bookend takes messages from the first of ids on, or from the last one back,
// until it has enough that count, and returns them in order. Those that are
// looked at first are in ms.
func (o AnchoredOptions) bookend(ctx context.Context, q engine.Queryer, ms []Message, ids []int64, last bool) ([]Message, error) {
	out := make([]Message, 0, o.kept())
	off, rest := cut(ids, o.likely(), last)
	for {
		if last {
			off = slices.Clone(off)
			slices.Reverse(off)
		}
		for _, id := range off {
			if m := find(ms, id); m != nil && len(out) < o.Bookend && o.keeps(m.Role) && !m.Content.isEmpty() {
				out = append(out, *m)
			}
		}
		if len(out) >= o.Bookend || len(rest) == 0 {
			break
		}
		off, rest = cut(rest, o.likely(), last)
		var err error
		if ms, err = messagesWith(ctx, q, off); err != nil {
			return out, err
		}
	}
	if last {
		slices.Reverse(out)
	}
	return out, nil
}
