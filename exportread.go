package sessiondb

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// exportPage is how many sessions are looked up at a time.
const exportPage = 500

// exportReader reads what ExportAll writes.
type exportReader struct {
	q       engine.Queryer
	f       ExportFilter
	pipe    *exportPipe
	wanted  map[string]bool // by id; nil is all
	orphans bool            // there are remembered ones
	last    int64           // id of the last message of the session under way
}

func (x *exportReader) run(ctx context.Context) error {
	if err := x.plan(ctx); err != nil {
		return err
	}
	var last exportKey
	for {
		keys, err := x.page(ctx, last)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if id, _ := k.id.(string); x.wanted != nil && !x.wanted[id] {
				continue
			}
			if err := x.session(ctx, k.id); err != nil {
				return err
			}
		}
		if len(keys) < exportPage {
			return nil
		}
		last = keys[len(keys)-1]
	}
}

// plan checks the wanted ids and counts what there is to do.
func (x *exportReader) plan(ctx context.Context) (err error) {
	if x.orphans, err = orphansTable.exists(ctx, x.q); err != nil {
		return err
	}
	if x.f.IDs != nil {
		x.wanted = make(map[string]bool, len(x.f.IDs))
	}
	for _, id := range x.f.IDs {
		s, err := sessionByID(ctx, x.q, id)
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		if x.f.Source == "" || s.Source == x.f.Source {
			x.wanted[id] = true
		}
	}
	x.pipe.total = int64(len(x.wanted))
	if x.wanted != nil || x.f.Progress == nil {
		return nil
	}
	where, args := x.where("")
	return x.q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions`+where, args...).Scan(&x.pipe.total)
}

// where is the condition of the filter, and one more.
func (x *exportReader) where(more string, args ...any) (string, []any) {
	switch {
	case x.f.Source == "" && more == "":
		return "", nil
	case x.f.Source == "":
		return " WHERE " + more, args
	case more == "":
		return " WHERE source = ?", []any{x.f.Source}
	}
	return " WHERE source = ? AND " + more, append([]any{x.f.Source}, args...)
}

// exportKey is what an export is ordered by. A start that is no number, or
// an id that is no text, as other programs may store, is kept as it is.
type exportKey struct {
	started any
	id      any
}

// page returns the keys after one.
func (x *exportReader) page(ctx context.Context, after exportKey) (keys []exportKey, err error) {
	where, args := x.where("id IS NOT NULL")
	if after.started != nil {
		where, args = x.where("id IS NOT NULL AND (started_at, id) > (?, ?)", after.started, after.id)
	}
	err = eachRow(ctx, x.q, func(r engine.Rows) error {
		var k exportKey
		err := r.Scan(&k.started, &k.id)
		keys = append(keys, k)
		return err
	}, `SELECT started_at, id FROM sessions`+where+` ORDER BY started_at, id LIMIT ?`, append(args, exportPage)...)
	return keys, err
}

// session reads a session. A statement whose context can end costs an engine
// more than a short one does otherwise, so that is looked at between messages.
func (x *exportReader) session(ctx context.Context, id any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	short := context.WithoutCancel(ctx)
	s, err := sessionByID(short, x.q, id)
	if err != nil {
		return err
	}
	kind, err := x.kind(short, &s)
	if err != nil {
		return err
	}
	x.pipe.begin(&s, kind)
	damage, err := x.messages(short, id, func(m *Message) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.last = m.ID
		return x.pipe.add(m)
	})
	if err != nil {
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	return x.pipe.end(damage)
}

// messages reads the messages of a session. It returns what kept some of them
// from being read, if whoever exports wants to hear of it.
func (x *exportReader) messages(ctx context.Context, id any, add func(*Message) error) (damage, err error) {
	x.last = 0
	err = eachMessage(ctx, x.q, add, sessionMessagesSQL, id)
	if !errors.Is(err, ErrCorrupt) || x.f.Damaged == nil {
		return nil, err
	}
	return err, x.salvage(ctx, id, add)
}

const messageByIDSQL = `FROM messages m WHERE m.id = ?`

// salvage goes on behind the last message that could be read, one at a time.
// The ids stand in an index, which may be whole where the rows are not.
func (x *exportReader) salvage(ctx context.Context, id any, add func(*Message) error) error {
	var ids []int64
	err := eachRow(ctx, x.q, func(r engine.Rows) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM messages WHERE session_id = ? AND +id > ? ORDER BY +id`, id, x.last)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	for _, id := range ids {
		if err := eachMessage(ctx, x.q, add, messageByIDSQL, id); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return nil
}

// kind is what originOf says, without a look for what can't be.
func (x *exportReader) kind(ctx context.Context, s *Session) (Kind, error) {
	if s.ParentID == nil && !x.orphans {
		return Root, nil
	}
	_, kind, err := originOf(ctx, x.q, s.ID)
	return kind, err
}
