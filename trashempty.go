package sessiondb

import (
	"context"
	"fmt"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// EmptyTrashOptions say what leaves the trash for good. The zero value is all of
// it.
type EmptyTrashOptions struct {
	// OlderThan spares what was deleted less long ago.
	OlderThan time.Duration
	// IDs, if not nil, are the only deletions to look at.
	IDs []string
	// DryRun reports what would go and deletes nothing.
	DryRun bool
	// Progress is called after each transaction with the number of conversations
	// done so far and the total; nil is fine.
	Progress func(done, total int64)
}

// TrashEmptied tells what left the trash for good, or with DryRun would.
type TrashEmptied struct {
	Conversations int64 `json:"conversations"`
	Sessions      int64 `json:"sessions"`
	Messages      int64 `json:"messages"`
}

// emptyMessages is how many messages leave the trash in one transaction, if a
// conversation has not more.
const emptyMessages = 2000

// EmptyTrash deletes conversations in the trash for good, the longest deleted
// first, in short transactions. After an error, or the end of ctx, it returns
// what was done until then.
func (db *DB) EmptyTrash(ctx context.Context, o EmptyTrashOptions) (r TrashEmptied, err error) {
	defer wrap(&err, "empty trash")
	if o.OlderThan < 0 {
		return r, fmt.Errorf("%w: older than %v", ErrInvalid, o.OlderThan)
	}
	var all []trashRow
	err = db.read(ctx, func(q engine.Queryer) error {
		all, err = trashRows(ctx, q, epoch(db.now().Add(-o.OlderThan)), o.IDs)
		return err
	})
	for done := 0; err == nil && done < len(all); {
		batch := all[done:]
		messages := batch[0].messages
		for i := 1; i < len(batch); i++ {
			if messages += batch[i].messages; messages > emptyMessages {
				batch = batch[:i]
			}
		}
		if !o.DryRun {
			if err := db.emptied(ctx, batch); err != nil {
				return r, err
			}
		}
		for _, e := range batch {
			r.Conversations++
			r.Sessions += e.sessions
			r.Messages += e.messages
		}
		if done += len(batch); o.Progress != nil {
			o.Progress(int64(done), int64(len(all)))
		}
	}
	return r, err
}

// emptied deletes a batch. What was restored meanwhile is no longer there.
func (db *DB) emptied(ctx context.Context, batch []trashRow) error {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.id
	}
	return db.write(ctx, func(tx engine.Execer) error { return leaveTrash(ctx, tx, ids) })
}

type trashRow struct {
	id                 string
	sessions, messages int64
}

// trashRows returns what was deleted until a time, the oldest first.
func trashRows(ctx context.Context, q engine.Queryer, until float64, only []string) (out []trashRow, err error) {
	some, err := trashTable.exists(ctx, q)
	if err != nil || !some {
		return nil, err
	}
	var wanted map[string]bool
	if only != nil {
		wanted = map[string]bool{}
		for _, id := range only {
			wanted[id] = true
		}
	}
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var e trashRow
		err := r.Scan(&e.id, &e.sessions, &e.messages)
		if wanted == nil || wanted[e.id] {
			out = append(out, e)
		}
		return err
	}, `SELECT id, sessions, messages FROM sessiondb_trash WHERE deleted_at <= ? ORDER BY deleted_at, id`, until)
	return out, err
}

// expireTrash empties the trash of what was there for long. What it is called
// after is done, so a failure is told to the operator only.
func (db *DB) expireTrash(ctx context.Context) {
	if _, err := db.EmptyTrash(ctx, EmptyTrashOptions{OlderThan: TrashRetention}); err != nil && ctx.Err() == nil {
		db.log.Warn("the trash could not be emptied of what is older than 30 days", "error", err)
	}
}
