package sessiondb

import (
	"context"
	"errors"
	"io"
	"iter"

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
	b = s.beside.append(appendText(s.appendColumns(b), "kind", string(kind)))
	return append(appendKey(b, "messages"), '[')
}

// head is the object of an exported session without its messages.
func head(s *Session, kind Kind) []byte {
	return object(s.beside.append(appendText(s.appendColumns([]byte{'{'}), "kind", string(kind))))
}

// append renders what there is.
func (e *beside) append(b []byte) []byte {
	if len(e.tags) > 0 {
		b = appendTexts(b, "tags", e.tags)
	}
	switch e.from.kind {
	case forked:
		b = appendText(b, "forked_from", e.from.parent)
	case resumed:
		b = appendText(b, "resumed_from", e.from.parent)
	}
	return b
}

// readBeside reads what the store knows of sessions beside their rows.
func readBeside(ctx context.Context, q engine.Queryer, sessions ...*Session) error {
	ids := make([]string, len(sessions))
	at := make(map[string]*beside, len(sessions))
	for i, s := range sessions {
		s.beside = beside{}
		ids[i], at[s.ID] = s.ID, &s.beside
	}
	tags, err := tagsOf(ctx, q, ids...)
	if err != nil {
		return err
	}
	from, err := branchedFrom(ctx, q, ids...)
	for id, b := range at {
		b.tags, b.from = tags[id], from[id]
	}
	return err
}

// ExportSession returns a session and its messages in one snapshot, or
// [ErrNotFound].
func (db *DB) ExportSession(ctx context.Context, id string) (e ExportedSession, err error) {
	defer wrap(&err, "export session %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		if e.Session, err = sessionByID(ctx, q, id); err != nil {
			return err
		}
		if _, e.Kind, err = originOf(ctx, q, id); err != nil {
			return err
		}
		if err = readBeside(ctx, q, &e.Session); err != nil {
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
	// Damaged is called for a session of which something lies on damaged pages,
	// with the number of messages that could be read and were written. A session
	// whose own row is lost is written with the source "unknown". If it is nil,
	// damage ends the export.
	Damaged func(sessionID string, messages int64, err error)
	// Redact, if not nil, may change what is written of a session. It is shown all
	// parts first, each a JSON object: the columns and the kind of the session, then
	// each message; a part is valid until the next one. What it returns is called
	// with the same parts in the same order, while Redact may be shown the next
	// session in another goroutine, and returns what is written: an object as well.
	// If it returns nil, the session is written as it is.
	Redact func(parts iter.Seq[[]byte]) func(part []byte) []byte
}

// ExportAll writes sessions as JSON lines, by start and id, one session with
// its messages a line, from one snapshot. It holds a few messages in memory, not
// a session. It returns the number of sessions written; those before an error
// are written whole.
func (db *DB) ExportAll(ctx context.Context, w io.Writer, f ExportFilter) (n int64, err error) {
	defer wrap(&err, "export")
	turns := newExportTurns()
	var readErr error
	go func() {
		defer close(turns.order)
		readErr = turns.read(ctx, db, f)
	}()
	x := exportWriter{w: w, f: f, turns: turns}
	if err := x.all(); err != nil {
		turns.stop()
		return x.done, err
	}
	turns.stop()
	x.buf = x.buf[:min(x.whole, len(x.buf))] // no half of a session
	err = errors.Join(readErr, x.flush())
	return x.done, err
}

// exportBuffer is how many bytes are written at a time.
const exportBuffer = 256 << 10

// exportWriter turns what was read to JSON, while more is being read.
type exportWriter struct {
	w     io.Writer
	f     ExportFilter
	turns *exportTurns
	buf   []byte
	whole int // how much of buf is whole sessions
	done  int64
	id    string // of the session under way
	count int64  // of its messages
	mask  func(part []byte) []byte
	part  []byte // to be masked
}

// all writes what is read, up to an error of a reader, which ends its pipe within
// its turn.
func (x *exportWriter) all() error {
	for p := range x.turns.order {
		whole := false
		for !whole {
			b, ok := <-p.full
			if !ok {
				return nil
			}
			if err := x.write(b); err != nil {
				return err
			}
			whole = b.last
			p.empty <- b
		}
	}
	return nil
}

func (x *exportWriter) write(b *exportBatch) error {
	messages := b.messages
	for i := range b.parts {
		part := &b.parts[i]
		if s := part.begins; s != nil {
			x.id, x.count, x.mask = s.ID, 0, part.mask
			x.head(s, part.kind)
		}
		for j := range messages[:part.messages] {
			if err := x.message(&messages[j]); err != nil {
				return err
			}
		}
		messages = messages[part.messages:]
		if part.ends {
			x.end(part.damage)
		}
	}
	return nil
}

func (x *exportWriter) head(s *Session, kind Kind) {
	if x.mask == nil {
		x.buf = appendHead(append(x.buf, '{'), s, kind)
		return
	}
	masked := x.mask(head(s, kind))
	x.buf = append(append(x.buf, masked[:len(masked)-1]...), `,"messages":[`...)
}

func (x *exportWriter) message(m *Message) error {
	if x.count > 0 {
		x.buf = append(x.buf, ',')
	}
	x.count++
	if x.mask == nil {
		x.buf = object(m.appendColumns(append(x.buf, '{')))
	} else {
		x.part = object(m.appendColumns(append(x.part[:0], '{')))
		x.buf = append(x.buf, x.mask(x.part)...)
	}
	if len(x.buf) >= exportBuffer {
		return x.flush()
	}
	return nil
}

// end ends a line.
func (x *exportWriter) end(damage error) {
	x.buf = append(x.buf, "]}\n"...)
	x.whole = len(x.buf)
	x.done++
	if damage != nil {
		x.f.Damaged(x.id, x.count, damage)
	}
	if x.f.Progress != nil {
		x.f.Progress(x.done, x.turns.total)
	}
}

func (x *exportWriter) flush() error {
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
