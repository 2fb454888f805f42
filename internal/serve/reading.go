package serve

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb"
)

// readPage is how many messages a page of a conversation has at most.
const readPage = 200

// reading is a page of a conversation: of all sessions of its chain, one after
// the other.
type reading struct {
	Chain []sessiondb.Session // first to last
	Kind  sessiondb.Kind      // of the first
	// Children are what came from the chain beside it.
	Children []sessiondb.LineageNode
	Total    int64 // messages of the chain
	Parts    []readPart
	Tip      string // the id of the last session
	// Before and After tell where to read on; zero at the ends.
	Before, After place
	Target        int64 // the message that was asked for
}

// readPart is what a page has of one session.
type readPart struct {
	Session  sessiondb.Session
	Number   int // in the chain, from 1 on
	Messages []sessiondb.Message
}

// place is a message of a session.
type place struct {
	Session string
	Message int64
}

// start tells which part of a conversation is asked for.
type start struct {
	at, before, after int64 // a message; at most one is set
	end               bool
}

// read reads a page of the conversation that a session belongs to.
func read(ctx context.Context, db *sessiondb.DB, id string, from start) (r reading, err error) {
	if err := r.findChain(ctx, db, id); err != nil {
		return r, err
	}
	for _, c := range r.Chain {
		n, err := db.MessageCount(ctx, c.ID)
		if err != nil {
			return r, err
		}
		r.Total += n
	}
	i := slices.IndexFunc(r.Chain, func(c sessiondb.Session) bool { return c.ID == id })
	r.Target = from.at
	switch {
	case from.after > 0:
		err = r.forward(ctx, db, i, from.after)
	case r.Total <= readPage:
		err = r.forward(ctx, db, 0, 0)
	case from.end:
		err = r.backward(ctx, db, len(r.Chain)-1, 0)
	case from.before > 0:
		err = r.backward(ctx, db, i, from.before)
	case from.at > 0:
		err = r.around(ctx, db, i, from.at)
	default:
		err = r.forward(ctx, db, 0, 0)
	}
	return r, err
}

// findChain finds the sessions that continue each other, with the one of the id
// among them, and what else came from them.
func (r *reading) findChain(ctx context.Context, db *sessiondb.DB, id string) error {
	tree, err := db.Lineage(ctx, id)
	if err != nil {
		return err
	}
	tip, err := db.CompressionTip(ctx, id)
	if err != nil {
		return err
	}
	nodes := make(map[string]sessiondb.LineageNode, len(tree))
	for _, n := range tree {
		nodes[n.ID] = n
	}
	chain := map[string]bool{}
	for at, ok := nodes[tip]; ok && !chain[at.ID]; at, ok = nodes[*at.ParentID] {
		chain[at.ID] = true
		r.Chain, r.Kind = append(r.Chain, at.Session), at.Kind
		if at.Kind != sessiondb.Continuation || at.ParentID == nil {
			break
		}
	}
	if !chain[id] { // a lineage that goes in circles
		r.Chain, r.Kind, chain = []sessiondb.Session{nodes[id].Session}, nodes[id].Kind, map[string]bool{id: true}
	}
	slices.Reverse(r.Chain)
	r.Tip = r.Chain[len(r.Chain)-1].ID
	for _, n := range tree {
		if n.ParentID != nil && chain[*n.ParentID] && !chain[n.ID] {
			r.Children = append(r.Children, n)
		}
	}
	return nil
}

// forward reads on from a message of the i-th session, into the next ones.
func (r *reading) forward(ctx context.Context, db *sessiondb.DB, i int, after int64) error {
	if i > 0 || after > 0 {
		defer r.earlier()
	}
	for room := readPage; i < len(r.Chain); i, after = i+1, 0 {
		ms, err := db.MessagesAfter(ctx, r.Chain[i].ID, after, room+1)
		if err != nil {
			return err
		}
		if len(ms) > room {
			ms = ms[:room]
			if room > 0 {
				after = ms[room-1].ID
			}
			r.add(i, ms)
			r.After = place{r.Chain[i].ID, after}
			return nil
		}
		r.add(i, ms)
		room -= len(ms)
	}
	return nil
}

// earlier says that there is more before the page.
func (r *reading) earlier() {
	if len(r.Parts) > 0 {
		p := r.Parts[0]
		r.Before = place{p.Session.ID, p.Messages[0].ID}
	}
}

// backward reads what stands before a message of the i-th session, or its end if
// the message is 0.
func (r *reading) backward(ctx context.Context, db *sessiondb.DB, i int, before int64) error {
	for ; ; i, before = i-1, 0 {
		ms, err := messagesBefore(ctx, db, r.Chain[i].ID, before)
		if err != nil {
			return err
		}
		if len(ms) == 0 && i > 0 {
			continue
		}
		r.add(i, ms)
		return r.sides(ctx, db, i, ms)
	}
}

// messagesBefore are up to a page of messages before one, or the last ones if it
// is 0.
func messagesBefore(ctx context.Context, db *sessiondb.DB, id string, before int64) ([]sessiondb.Message, error) {
	last := before == 0
	if last {
		var err error
		if before, err = lateMessage(ctx, db, id); err != nil || before == 0 {
			return nil, err
		}
	}
	w, err := db.MessagesAround(ctx, id, before, readPage)
	if err != nil || last {
		return w.Window[max(0, len(w.Window)-readPage):], err
	}
	return w.Window[:min(w.MessagesBefore, len(w.Window))], nil
}

// lateMessage is the last message of a session that says something, or its first
// one; 0 if there is none.
func lateMessage(ctx context.Context, db *sessiondb.DB, id string) (int64, error) {
	first, err := db.MessagesAfter(ctx, id, 0, 1)
	if err != nil || len(first) == 0 {
		return 0, err
	}
	v, err := db.AnchoredView(ctx, id, first[0].ID, sessiondb.AnchoredOptions{Bookend: 1})
	if err != nil || len(v.BookendEnd) == 0 {
		return first[0].ID, err
	}
	return v.BookendEnd[0].ID, nil
}

// around reads a page with a message of the i-th session in its middle.
func (r *reading) around(ctx context.Context, db *sessiondb.DB, i int, at int64) error {
	w, err := db.MessagesAround(ctx, r.Chain[i].ID, at, readPage/2)
	if err != nil {
		return err
	}
	if len(w.Window) == 0 { // the message is gone
		r.Target = 0
		return r.forward(ctx, db, i, 0)
	}
	r.add(i, w.Window)
	return r.sides(ctx, db, i, w.Window)
}

// sides finds out where a page of the i-th session reads on.
func (r *reading) sides(ctx context.Context, db *sessiondb.DB, i int, ms []sessiondb.Message) error {
	if len(ms) == 0 {
		return nil
	}
	id := r.Chain[i].ID
	first, last := ms[0].ID, ms[len(ms)-1].ID
	ahead, err := db.MessagesAfter(ctx, id, 0, 1)
	if err != nil {
		return err
	}
	if i > 0 || len(ahead) > 0 && ahead[0].ID < first {
		r.Before = place{id, first}
	}
	next, err := db.MessagesAfter(ctx, id, last, 1)
	if err != nil {
		return err
	}
	if i < len(r.Chain)-1 || len(next) > 0 {
		r.After = place{id, last}
	}
	return nil
}

func (r *reading) add(i int, ms []sessiondb.Message) {
	if len(ms) > 0 {
		r.Parts = append(r.Parts, readPart{r.Chain[i], i + 1, ms})
	}
}
