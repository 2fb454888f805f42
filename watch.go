package sessiondb

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// WatchFilter says which messages Watch waits for.
type WatchFilter struct {
	// After is the id of the last message that is known: 0 begins with the
	// oldest, a negative one with the first that comes after the call.
	After     int64
	SessionID string   // only messages of this session
	Source    string   // only messages of sessions of this source
	Tags      []string // only messages of conversations that have all of these, then
	// Lost hears that the server can't be reached, with an [ErrConnection], each time
	// it was tried, and says whether to go on; nothing is missed then. Nil is to end
	// with that error.
	Lost func(error) bool
	// Every is how long Watch waits before it looks again; 0 means 200 ms.
	Every time.Duration
}

const (
	watchEvery = 200 * time.Millisecond
	watchPage  = 200 // messages read at once

	reconnectEvery = time.Second
)

func (f WatchFilter) every() time.Duration {
	if f.Every <= 0 {
		return watchEvery
	}
	return f.Every
}

// Watch yields messages by id as they are committed, by whatever process, and
// waits for more until ctx ends or an error is yielded; the end of ctx is no
// error. A message that replaces another has a new id, so it is yielded too.
// Nothing of the store is held while it waits. Where another file takes the place
// of the store, the error is [ErrReplaced].
func (db *DB) Watch(ctx context.Context, f WatchFilter) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		last := f.After
		if last < 0 {
			var err error
			if last, err = db.newestMessage(ctx); err != nil {
				if ctx.Err() == nil {
					yield(Message{}, err)
				}
				return
			}
		}
		for {
			ms, err := db.watchPage(ctx, f, last)
			if ctx.Err() != nil {
				return
			}
			if errors.Is(err, ErrConnection) && f.Lost != nil && f.Lost(err) {
				if retry.Pause(ctx, max(f.every(), reconnectEvery)) != nil {
					return
				}
				continue
			}
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range ms {
				if last = m.ID; !yield(m, nil) {
					return
				}
			}
			if len(ms) < watchPage && retry.Pause(ctx, f.every()) != nil {
				return
			}
		}
	}
}

func (db *DB) newestMessage(ctx context.Context) (id int64, err error) {
	defer wrap(&err, "newest message")
	if e, ok := db.engine.(engine.Concurrent); ok {
		return e.Settled(ctx)
	}
	err = db.read(ctx, func(q engine.Queryer) error {
		return q.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM messages`).Scan(&id)
	})
	return id, err
}

// settled is a bound of the ids that are read now: where writes run at the same
// time, one of a lower id may be committed later than one of a higher.
func (db *DB) settled(ctx context.Context) (int64, error) {
	if e, ok := db.engine.(engine.Concurrent); ok {
		return e.Settled(ctx)
	}
	return math.MaxInt64, nil
}

func (db *DB) watchPage(ctx context.Context, f WatchFilter, last int64) (out []Message, err error) {
	defer wrap(&err, "watch")
	upTo, err := db.settled(ctx)
	if err != nil || upTo <= last {
		return nil, err
	}
	where, args := []string{`m.id > ?`, `m.id <= ?`}, []any{last, upTo}
	if f.SessionID != "" {
		where, args = append(where, `m.session_id = ?`), append(args, f.SessionID)
	}
	if f.Source != "" {
		where = append(where, `EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id AND s.source = ?)`)
		args = append(args, f.Source)
	}
	err = db.read(ctx, func(q engine.Queryer) error {
		tagged, err := isTagged(ctx, q, f.Tags)
		if err != nil {
			return err
		}
		where, args := slices.Concat(where, tagged.ofMessages().conds), slices.Concat(args, tagged.args, []any{watchPage})
		out, err = queryMessages(ctx, q, `FROM messages m WHERE `+strings.Join(where, ` AND `)+` ORDER BY m.id LIMIT ?`, args...)
		return err
	})
	return out, err
}
