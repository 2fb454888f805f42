package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// ExportedSession is a session row, what it is to its parent, and all its
// messages.
type ExportedSession struct {
	Session  Session
	Kind     Kind // Delegate also when the parent is deleted
	Messages []Message
}

// MarshalJSON gives the documented keys: the columns, "kind" and "messages".
func (e ExportedSession) MarshalJSON() ([]byte, error) {
	b := appendHead([]byte{'{'}, &e.Session, e.Kind)
	for i := range e.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = object(e.Messages[i].appendColumns(append(b, '{')))
	}
	return append(b, ']', '}'), nil
}

// appendHead begins the object of an exported session, up to its messages.
func appendHead(b []byte, s *Session, kind Kind) []byte {
	b = appendText(s.appendColumns(b), "kind", string(kind))
	return append(appendKey(b, "messages"), '[')
}

// ExportSession returns a session and its messages in one snapshot, or
// [ErrNotFound].
func (db *DB) ExportSession(ctx context.Context, id string) (e ExportedSession, err error) {
	defer wrap(&err, "export session %s", id)
	err = db.read(ctx, func(q engine.Queryer) error {
		if e.Session, err = sessionByID(ctx, q, id); err != nil {
			return err
		}
		if _, e.Kind, err = originOf(ctx, q, id); err != nil {
			return err
		}
		e.Messages, err = sessionMessages(ctx, q, id)
		return err
	})
	return e, err
}

// ExportFilter says what ExportAll writes. The zero value is everything.
type ExportFilter struct {
	Source string
	IDs    []string // an unknown one is ErrNotFound, and nothing is written
	// Progress is called after each session with the number written so far and
	// the total; nil is fine.
	Progress func(done, total int64)
	// Damaged is called for a session some of whose messages lie in damaged
	// pages, with the number of those that could be read and were written. If it
	// is nil, such a session ends the export.
	Damaged func(sessionID string, messages int64, err error)
}

// ExportAll writes sessions as JSON lines, by start and id, one session with
// its messages a line, from one snapshot. It holds no more in memory than one
// message. It returns the number of sessions written; those before an error are
// written whole.
func (db *DB) ExportAll(ctx context.Context, w io.Writer, f ExportFilter) (n int64, err error) {
	defer wrap(&err, "export")
	err = db.read(ctx, func(q engine.Queryer) error {
		x := exporter{q: q, w: w, f: f}
		err := x.run(ctx)
		x.buf = x.buf[:min(x.whole, len(x.buf))] // no half of a session
		err = errors.Join(err, x.flush())
		n = x.done
		return err
	})
	return n, err
}

const (
	exportPage   = 500       // sessions looked up at a time
	exportBuffer = 256 << 10 // bytes written at a time
)

// exporter is one ExportAll under way.
type exporter struct {
	q           engine.Queryer
	w           io.Writer
	f           ExportFilter
	wanted      map[string]bool // by id; nil is all
	orphans     bool            // there are remembered ones
	buf         []byte
	whole       int // how much of buf is whole sessions
	done, total int64
	last, count int64 // of the messages of a session: the id, and how many
}

func (x *exporter) run(ctx context.Context) error {
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
func (x *exporter) plan(ctx context.Context) (err error) {
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
	x.total = int64(len(x.wanted))
	if x.wanted != nil || x.f.Progress == nil {
		return nil
	}
	where, args := x.where("")
	return x.q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions`+where, args...).Scan(&x.total)
}

// where is the condition of the filter, and one more.
func (x *exporter) where(more string, args ...any) (string, []any) {
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
func (x *exporter) page(ctx context.Context, after exportKey) (keys []exportKey, err error) {
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

// session writes a line.
func (x *exporter) session(ctx context.Context, id any) error {
	s, err := sessionByID(ctx, x.q, id)
	if err != nil {
		return err
	}
	kind, err := x.kind(ctx, &s)
	if err != nil {
		return err
	}
	x.buf = appendHead(append(x.buf, '{'), &s, kind)
	if err := x.messages(ctx, id); err != nil {
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	x.buf = append(x.buf, "]}\n"...)
	x.whole = len(x.buf)
	x.done++
	if x.f.Progress != nil {
		x.f.Progress(x.done, x.total)
	}
	return nil
}

// messages writes the messages of a session.
func (x *exporter) messages(ctx context.Context, id any) error {
	x.last, x.count = 0, 0
	err := eachMessage(ctx, x.q, x.message, sessionMessagesSQL, id)
	if !errors.Is(err, ErrCorrupt) || x.f.Damaged == nil {
		return err
	}
	if salvageErr := x.salvage(ctx, id); salvageErr != nil {
		return salvageErr
	}
	x.f.Damaged(fmt.Sprint(id), x.count, err)
	return nil
}

func (x *exporter) message(m *Message) error {
	if x.count > 0 {
		x.buf = append(x.buf, ',')
	}
	x.last, x.count = m.ID, x.count+1
	x.buf = object(m.appendColumns(append(x.buf, '{')))
	if len(x.buf) >= exportBuffer {
		return x.flush()
	}
	return nil
}

const messageByIDSQL = `FROM messages m WHERE m.id = ?`

// salvage goes on behind the last message that could be read, one at a time.
// The ids stand in an index, which may be whole where the rows are not.
func (x *exporter) salvage(ctx context.Context, id any) error {
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
		if err := eachMessage(ctx, x.q, x.message, messageByIDSQL, id); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return nil
}

// kind is what originOf says, without a look for what can't be.
func (x *exporter) kind(ctx context.Context, s *Session) (Kind, error) {
	if s.ParentID == nil && !x.orphans {
		return Root, nil
	}
	_, kind, err := originOf(ctx, x.q, s.ID)
	return kind, err
}

func (x *exporter) flush() error {
	if len(x.buf) == 0 {
		return nil
	}
	_, err := x.w.Write(x.buf)
	x.whole = 0
	if x.buf = x.buf[:0]; cap(x.buf) > 4*exportBuffer {
		x.buf = nil // a huge message need not be held room for
	}
	return err
}
