package sessiondb

import (
	"context"
	"io"
)

// ExportedSession is a session row and all its messages.
type ExportedSession struct {
	Session  Session
	Messages []Message
}

// MarshalJSON gives the documented keys: the columns and "messages".
func (e ExportedSession) MarshalJSON() ([]byte, error) {
	b := append(appendKey(e.Session.appendColumns([]byte{'{'}), "messages"), '[')
	for i := range e.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = object(e.Messages[i].appendColumns(append(b, '{')))
	}
	return append(b, ']', '}'), nil
}

// ExportSession returns a session and its messages in one snapshot, or
// [ErrNotFound].
func (db *DB) ExportSession(ctx context.Context, id string) (ExportedSession, error) { panic("todo") }

// ExportFilter says what ExportAll writes. The zero value is everything.
type ExportFilter struct {
	Source string
	IDs    []string
	// Progress is called after each session with the number written so far and
	// the total; nil is fine.
	Progress func(done, total int64)
}

// ExportAll writes sessions as JSON lines, one session with its messages a
// line, in constant memory and from one snapshot. It returns the number of
// sessions written.
func (db *DB) ExportAll(ctx context.Context, w io.Writer, f ExportFilter) (int64, error) {
	panic("todo")
}
