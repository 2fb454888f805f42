package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// AppendOption changes how messages are added.
type AppendOption func(*appending)

// appending is what the options of one call say.
type appending struct {
	once bool
	key  string
}

// Once gives what is added a key, so that it is added once: a call with a key that
// the session has seen adds nothing and returns the ids of then. So a caller that
// does not know whether a call got through makes it again. Where a connection is
// lost in the commit, the store does that itself.
//
// A key is up to 200 bytes that the caller chooses, best at random, and belongs to
// the session. It is remembered for a week at least, until [DB.Prune] or
// [DB.MaybePruneAndVacuum] forgets it, and also when the messages are replaced. An
// empty key, or one that came with another number of messages, is [ErrInvalid].
func Once(key string) AppendOption {
	return func(a *appending) { a.once, a.key = true, key }
}

const (
	maxKey = 200
	keyAge = 7 * 24 * time.Hour
)

var appendsTable = addedTable{"sessiondb_appends", `CREATE TABLE IF NOT EXISTS sessiondb_appends (
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    message_ids TEXT NOT NULL,
    appended_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (session_id, key)
)`}

const rememberAppendSQL = `INSERT INTO sessiondb_appends (session_id, key, message_ids, appended_at) VALUES (?, ?, ?, ?)`

func newAppending(options []AppendOption) (a appending, err error) {
	for _, o := range options {
		o(&a)
	}
	if a.once && (a.key == "" || len(a.key) > maxKey || validText(a.key) != a.key || strings.Contains(a.key, "\x00")) {
		return a, fmt.Errorf("%w: the key %.*q of an append is not 1-%d bytes of UTF-8", ErrInvalid, maxKey, a.key, maxKey)
	}
	return a, nil
}

// append adds n messages by add, which returns their ids, unless the key of the
// options says that it was done.
func (db *DB) append(ctx context.Context, sessionID string, n int, options []AppendOption, add func(engine.Execer) ([]int64, error)) (ids []int64, err error) {
	a, err := newAppending(options)
	if err != nil {
		return nil, err
	}
	if a.once {
		add = a.unlessSeen(ctx, db, sessionID, n, add)
	}
	write := func() error {
		return db.writeAbout(ctx, func(tx engine.Execer) (err error) {
			ids, err = add(tx)
			return err
		}, sessionID)
	}
	err = write()
	if a.once && errors.Is(err, ErrUncertain) {
		err = retry.Do(ctx, retry.Pause, write, func(err error, tries int, _ time.Duration) error {
			if errors.Is(err, ErrUncertain) && tries < retry.Attempts {
				return nil
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// unlessSeen is add that looks for the key before and remembers it afterwards.
func (a appending) unlessSeen(ctx context.Context, db *DB, sessionID string, n int, add func(engine.Execer) ([]int64, error)) func(engine.Execer) ([]int64, error) {
	return func(tx engine.Execer) ([]int64, error) {
		ids, err := a.seen(ctx, tx, sessionID, n)
		if ids != nil || err != nil {
			return ids, err
		}
		if ids, err = add(tx); err == nil {
			err = a.remember(ctx, tx, sessionID, ids, epoch(db.now()))
		}
		return ids, err
	}
}

// seen are the ids that were given to the messages of this key, nil if none were.
func (a appending) seen(ctx context.Context, tx engine.Execer, sessionID string, n int) ([]int64, error) {
	some, err := appendsTable.exists(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !some {
		return nil, appendsTable.make(ctx, tx)
	}
	var list string
	err = tx.QueryRow(ctx, `SELECT message_ids FROM sessiondb_appends WHERE session_id = ? AND key = ?`, sessionID, a.key).Scan(&list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := []int64{}
	for id := range strings.FieldsSeq(list) {
		i, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("ids of the key %q: %w", a.key, err)
		}
		ids = append(ids, i)
	}
	if len(ids) != n {
		return nil, fmt.Errorf("%w: the key %q came with %d messages before, not %d", ErrInvalid, a.key, len(ids), n)
	}
	return ids, nil
}

func (a appending) remember(ctx context.Context, tx engine.Execer, sessionID string, ids []int64, now float64) error {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.FormatInt(id, 10)
	}
	_, err := tx.Exec(ctx, rememberAppendSQL, sessionID, a.key, strings.Join(list, " "), now)
	return err
}

// forgetKeys drops the keys that nobody will come back with.
func (db *DB) forgetKeys(ctx context.Context) error {
	const old = `FROM sessiondb_appends WHERE appended_at < ?`
	limit := epoch(db.now().Add(-keyAge))
	var n int
	err := db.read(ctx, func(q engine.Queryer) error {
		some, err := appendsTable.exists(ctx, q)
		if err != nil || !some {
			return err
		}
		return q.QueryRow(ctx, `SELECT COUNT(*) `+old, limit).Scan(&n)
	})
	if err != nil || n == 0 {
		return err
	}
	return db.write(ctx, func(tx engine.Execer) error {
		_, err := tx.Exec(ctx, `DELETE `+old, limit)
		return err
	})
}
