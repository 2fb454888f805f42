package postgres

import (
	"context"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// Writers take turns by advisory locks, which end with the transaction, or with
// the connection of a program that died. Every write has the lock of the store:
// one that is about a few names shares it with others of that kind, and has the
// lock of each name for itself; any other has that of the store for itself. Ids of
// messages are given under these locks, and so rise in each session in the order
// of commits.

// lockNumber is the number of an advisory lock of this store.
func (s *store) lockNumber(what string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(lockName(s.schema, what)))
	return int64(h.Sum64()) // #nosec G115 -- any 64 bits will do
}

// lockName is a name for a pair that no other pair has: colons of the schema are
// doubled, and nothing that is locked begins with one.
func lockName(schema, what string) string {
	return "sessiondb:" + strings.ReplaceAll(schema, ":", "::") + ":" + what
}

func (s *store) lockKey(what string) string { return strconv.FormatInt(s.lockNumber(what), 10) }

// storeLock is the lock that every write has.
const storeLock = "write"

// locks are the expressions that take the locks of a write. Sessions whose names
// have the same number take turns too, which does no harm.
func (s *store) locks(names []string) string {
	if names == nil {
		return `pg_advisory_xact_lock(` + s.lockKey(storeLock) + `)`
	}
	var b strings.Builder
	b.WriteString(`pg_advisory_xact_lock_shared(` + s.lockKey(storeLock) + `)`)
	for _, n := range names {
		b.WriteString(`, pg_advisory_xact_lock(` + s.lockKey("about:"+n) + `)`)
	}
	return b.String()
}

// settledEvery is how long Settled waits before it looks again.
const settledEvery = 2 * time.Millisecond

// Settled implements [engine.Concurrent]. A write has the lock of the store before
// it is given an id, so that who has no such lock now uses none of those that were
// given.
func (s *store) Settled(ctx context.Context) (id int64, err error) {
	c, err := s.acquire(ctx)
	if err != nil {
		return 0, mapError(err)
	}
	defer c.Release()
	err = c.QueryRow(ctx, `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM messages_id_seq`).Scan(&id)
	if err != nil {
		return 0, mapError(lostBefore(ctx, c.Conn(), err))
	}
	var writers []string
	for first := true; ; first = false {
		still, err := s.writing(ctx, c.Conn(), first, writers)
		if err != nil {
			return 0, mapError(lostBefore(ctx, c.Conn(), err))
		}
		if writers = still; len(writers) == 0 {
			s.noteWritten(ctx, c) // a replica must have them
			return id, nil
		}
		if err := retry.Pause(ctx, settledEvery); err != nil {
			return 0, err
		}
	}
}

// writing are the transactions that have the lock of the store: all of them, or
// those among some.
func (s *store) writing(ctx context.Context, c *pgx.Conn, all bool, among []string) ([]string, error) {
	key := uint64(s.lockNumber(storeLock)) // #nosec G115 -- any 64 bits will do
	rows, err := c.Query(ctx, `SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = $1 AND objid = $2 AND granted
 AND ($3 OR virtualtransaction = ANY($4))`, uint32(key>>32), uint32(key), all, among) // #nosec G115 -- its two halves
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
