package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// exportReader reads of what ExportAll writes what falls to its turns.
type exportReader struct {
	q       engine.Queryer
	f       ExportFilter
	turns   *exportTurns
	turn    int // under way
	pipe    *exportPipe
	wanted  map[string]bool // by id; nil is all
	orphans bool            // there are remembered ones
	tags    bool            // there are some
	loss    engine.Loss
	met     error // damage that the snapshot goes past
	// Of the messages of the session under way: the last id, and how many.
	last, count int64
}

func (x *exportReader) run(ctx context.Context) error {
	x.pipe = newExportPipe(x.turns.stopped)
	defer x.pipe.close()
	for {
		page, ok, err := x.take(ctx)
		if !ok || err != nil {
			return err
		}
		for i := range page {
			if id, _ := page[i].id.(string); x.wanted != nil && !x.wanted[id] {
				continue
			}
			if err := x.session(ctx, &page[i]); err != nil {
				return err
			}
		}
		if len(page) < exportPage {
			if err := x.homeless(ctx); err != nil {
				return err
			}
		}
		if err := x.pipe.endTurn(); err != nil {
			return err
		}
	}
}

// plan checks the wanted ids and counts what there is to do.
func (x *exportReader) plan(ctx context.Context) (err error) {
	if x.orphans, err = orphansTable.exists(ctx, x.q); err != nil {
		return err
	}
	if x.tags, err = tagsTable.exists(ctx, x.q); err != nil {
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
	x.turns.total = int64(len(x.wanted))
	if x.wanted != nil || x.f.Progress == nil {
		return nil
	}
	where, args := x.where("")
	return x.q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions s`+where, args...).Scan(&x.turns.total)
}

// where is the condition of the filter, and one more.
func (x *exportReader) where(more string, args ...any) (string, []any) {
	switch {
	case x.f.Source == "" && more == "":
		return "", nil
	case x.f.Source == "":
		return " WHERE " + more, args
	case more == "":
		return " WHERE s.source = ?", []any{x.f.Source}
	}
	return " WHERE s.source = ? AND " + more, append([]any{x.f.Source}, args...)
}

// exportKey is what an export is ordered by. A start that is no number, or
// an id that is no text, as other programs may store, is kept as it is.
type exportKey struct {
	started any
	id      any
}

// exportRow is a session to be written.
type exportRow struct {
	exportKey
	Session // empty where few of many are wanted
}

// page returns the sessions after a key.
func (x *exportReader) page(ctx context.Context, after exportKey) (page []exportRow, err error) {
	where, args := x.where("s.id IS NOT NULL")
	if after.started != nil {
		where, args = x.where("s.id IS NOT NULL AND (s.started_at, s.id) > (?, ?)", after.started, after.id)
	}
	columns := "s.started_at, s.id"
	if x.wanted == nil {
		columns += ", " + sessionSelect
	}
	rows, err := x.q.QueryColumns(ctx, columns, `FROM sessions s`+where+` ORDER BY s.started_at, s.id LIMIT ?`, append(args, exportPage)...)
	err = scanRows(rows, err, func(r engine.Rows) error {
		page = append(page, exportRow{})
		e := &page[len(page)-1]
		targets := []any{&e.started, &e.exportKey.id}
		if x.wanted == nil {
			targets = append(targets, e.scanTargets()...)
		}
		return r.Scan(targets...)
	})
	if err != nil || x.wanted != nil {
		return page, err
	}
	sessions := make([]*Session, len(page))
	for i := range page {
		sessions[i] = &page[i].Session
	}
	return page, x.readBeside(ctx, sessions...)
}

// readBeside is readBeside without a look for what can't be.
func (x *exportReader) readBeside(ctx context.Context, sessions ...*Session) error {
	if !x.tags && !x.orphans {
		return nil
	}
	return readBeside(ctx, x.q, sessions...)
}

// session reads a session. A statement whose context can end costs an engine
// more than a short one does otherwise, so that is looked at between messages.
func (x *exportReader) session(ctx context.Context, row *exportRow) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	short := context.WithoutCancel(ctx)
	s, id := &row.Session, row.exportKey.id
	var kind Kind
	err := x.pastDamage(ctx, func() (err error) {
		if x.wanted != nil {
			if *s, err = sessionByID(short, x.q, id); err != nil {
				return err
			}
			if err = x.readBeside(short, s); err != nil {
				return err
			}
		}
		kind, err = x.kind(short, s)
		return err
	})
	if err != nil {
		return err
	}
	if err := x.messages(ctx, s, kind, id); err != nil {
		return err
	}
	return x.pipe.end(x.lost(s))
}

// exportMessagesSQL goes on behind a message: one export may begin it twice.
var exportMessagesSQL = messagesByID(`SELECT id FROM messages WHERE session_id = ? AND +id > ?`)

// messages begins a session and reads its messages.
func (x *exportReader) messages(ctx context.Context, s *Session, kind Kind, id any) error {
	var mask func(part []byte) []byte
	if x.f.Redact != nil {
		var err error
		if mask, err = x.redact(ctx, s, kind, id); err != nil {
			return err
		}
	}
	x.pipe.begin(s, kind, mask)
	return x.eachMessage(ctx, s, id, x.pipe.add)
}

// redact shows a session to Redact.
func (x *exportReader) redact(ctx context.Context, s *Session, kind Kind, id any) (mask func(part []byte) []byte, err error) {
	var part []byte
	errEnough := errors.New("enough was seen")
	mask = x.f.Redact(func(yield func([]byte) bool) {
		if !yield(head(s, kind)) {
			return
		}
		err = x.eachMessage(ctx, s, id, func(m *Message) error {
			part = object(m.appendColumns(append(part[:0], '{')))
			if !yield(part) {
				return errEnough
			}
			return nil
		})
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return mask, err
}

// eachMessage reads the messages of a session.
func (x *exportReader) eachMessage(ctx context.Context, s *Session, id any, fn func(*Message) error) error {
	x.last, x.count = math.MinInt64, 0
	err := x.pastDamage(ctx, func() error {
		return eachMessage(context.WithoutCancel(ctx), x.q, func(m *Message) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			x.last, x.count = m.ID, x.count+1
			return fn(m)
		}, exportMessagesSQL, id, x.last)
	})
	if err != nil {
		return fmt.Errorf("session %s: %w", s.ID, err)
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
