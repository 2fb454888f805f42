package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// A list by last activity is read from its top: messages and starts of sessions
// are walked from the newest on, and each leads up to the session that a list
// shows for it. So a page costs what the activity on it costs, not what the
// store holds. Where few sessions pass the filter, or the index of times is
// missing, all sessions are summed up instead.

const (
	walkChunk = 64
	// walkFor is how many messages are walked for each session wanted before
	// summing up promises to be cheaper, and walkLeast the least in all; walkMost
	// bounds the sessions that count.
	walkFor   = 500
	walkLeast = 20000
	walkMost  = 10000
)

// ranked is a session with what it is ordered by.
type ranked struct {
	id      string
	active  float64
	started float64
}

func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.active, a.active), cmp.Compare(b.started, a.started), cmp.Compare(b.id, a.id))
}

func (l *listing) byActivity(ctx context.Context) ([]string, error) {
	limit, offset := page(l.f.Limit, l.f.Offset)
	if l.info.ActivityIndex && limit > 0 && !l.atOnce {
		w := &walk{listing: l, want: offset + limit, budget: max(walkLeast, walkFor*min(offset+limit, walkMost)), seen: map[string]bool{}, shown: map[string]bool{}}
		done, err := w.run(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			return cutRanked(w.found, limit, offset), nil
		}
	}
	all, err := l.sumUp(ctx)
	return cutRanked(all, limit, offset), err
}

func cutRanked(all []ranked, limit, offset int) []string {
	slices.SortFunc(all, compareRanked)
	all = all[min(offset, len(all)):]
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.id
	}
	return ids
}

// walk goes through the activity of a store from the newest on.
type walk struct {
	*listing
	want   int
	budget int
	found  []ranked
	seen   map[string]bool // sessions whose newest activity was met
	shown  map[string]bool // sessions of the list that were found
}

// run fills found with the want most recently active sessions and those that
// tie with the last. It reports false when the budget or the store ran out
// before; at the end of a store wait the sessions whose times are no times.
func (w *walk) run(ctx context.Context) (bool, error) {
	messages := &cursor{next: w.nextMessages}
	starts := &cursor{next: w.nextStarts}
	for {
		m, err := messages.peek(ctx)
		if err != nil {
			return false, err
		}
		s, err := starts.peek(ctx)
		if err != nil {
			return false, err
		}
		from := messages
		if m == nil || (s != nil && s.time > m.time) {
			from = starts
		}
		e := from.take()
		if e != nil && w.full(e.time) {
			return true, nil
		}
		if w.budget--; e == nil || w.budget < 0 {
			return false, nil
		}
		if err := w.meet(ctx, e, from == starts); err != nil {
			return false, err
		}
	}
}

// full reports whether nothing from time on can belong to the page.
func (w *walk) full(time float64) bool {
	return len(w.found) >= w.want && time < w.found[len(w.found)-1].active
}

// meet takes note of the activity of a session and of those it continues. A
// start counts only for a session without messages.
func (w *walk) meet(ctx context.Context, e *event, start bool) error {
	if w.seen[e.session] {
		return nil
	}
	if start {
		var active float64
		err := w.q.QueryRow(ctx, `SELECT `+lastActiveSQL+` FROM sessions c WHERE c.id = ?`, w.latest, e.session).Scan(&active)
		if err != nil || active != e.time {
			return err // its messages are older and come later
		}
	}
	w.seen[e.session] = true
	path := []string{e.session}
	if !w.f.ownActivity {
		var err error
		if path, _, err = climb(ctx, w.q, e.session, isContinuation); err != nil {
			return err
		}
	}
	for _, id := range path {
		w.seen[id] = true // what it did itself is older
		if err := w.show(ctx, ranked{id: id, active: e.time}); err != nil {
			return err
		}
	}
	return nil
}

// show adds a session to those found, if the list has it.
func (w *walk) show(ctx context.Context, r ranked) error {
	if w.shown[r.id] {
		return nil
	}
	w.shown[r.id] = true
	err := w.q.QueryRow(ctx, `SELECT c.started_at`+withParentSQL+w.where+` AND c.id = ?`, append(slices.Clone(w.args), r.id)...).
		Scan(startColumn{&r.started})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	w.found = append(w.found, r)
	return err
}

// event is a message, or the start of a session.
type event struct {
	time    float64
	id      int64
	session string
}

// cursor reads events in chunks, so that no query stays open while others run.
type cursor struct {
	next  func(ctx context.Context, last *event) ([]event, error)
	chunk []event
	last  *event
	done  bool
}

func (c *cursor) peek(ctx context.Context) (*event, error) {
	if len(c.chunk) == 0 && !c.done {
		chunk, err := c.next(ctx, c.last)
		if err != nil {
			return nil, err
		}
		c.chunk, c.done = chunk, len(chunk) < walkChunk
	}
	if len(c.chunk) == 0 {
		return nil, nil
	}
	return &c.chunk[0], nil
}

func (c *cursor) take() *event {
	if len(c.chunk) == 0 {
		return nil
	}
	c.last = &c.chunk[0]
	c.chunk = c.chunk[1:]
	return c.last
}

const walkMessagesSQL = `SELECT timestamp, id, session_id FROM messages
 WHERE (timestamp, id) < (?, ?) ORDER BY timestamp DESC, id DESC LIMIT ?`

func (w *walk) nextMessages(ctx context.Context, last *event) ([]event, error) {
	if last == nil {
		last = &event{time: w.latest}
	}
	return w.events(ctx, walkMessagesSQL, func(r engine.Rows, e *event) error {
		return r.Scan(&e.time, &e.id, &e.session)
	}, last.time, last.id, walkChunk)
}

// The first chunk of starts begins at no particular id.
const walkStartsSQL = `SELECT started_at, id FROM sessions
 WHERE id IS NOT NULL AND started_at <= ? AND (started_at, id) < (?, ?) ORDER BY started_at DESC, id DESC LIMIT ?`

func (w *walk) nextStarts(ctx context.Context, last *event) ([]event, error) {
	if last == nil {
		last = &event{time: w.latest}
	}
	return w.events(ctx, walkStartsSQL, func(r engine.Rows, e *event) error {
		return r.Scan(&e.time, &e.session)
	}, last.time, last.time, last.session, walkChunk)
}

func (w *walk) events(ctx context.Context, query string, scan func(engine.Rows, *event) error, args ...any) (out []event, err error) {
	err = eachRow(ctx, w.q, func(r engine.Rows) error {
		var e event
		err := scan(r, &e)
		out = append(out, e)
		return err
	}, query, args...)
	return out, err
}

// noTime orders before every time.
var noTime time.Time

// startColumn reads the start of a session as a number to order by.
type startColumn struct{ dst *float64 }

func (c startColumn) Scan(src any) error {
	var t time.Time
	var o odd
	err := timeColumn{"started_at", &t, &o}.Scan(src)
	*c.dst = epoch(t)
	return err
}
