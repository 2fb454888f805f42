package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// replica is where reads go, so long as it has what was written here.
type replica struct {
	pool *pgxpool.Pool
	// written is how far the log of the primary had come after the last write of
	// this store; unknown where it could not be asked.
	written atomic.Uint64
}

const (
	unknownWritten = 1<<64 - 1

	// catchUp is how long a read waits for a replica before it goes to the primary.
	catchUp      = 100 * time.Millisecond
	catchUpEvery = 2 * time.Millisecond
)

// openReplica does not connect: a replica that is not there is done without.
func (s *store) openReplica(ctx context.Context, o Options) error {
	if o.ReadDSN == "" {
		return nil
	}
	config, err := pgxpool.ParseConfig(o.ReadDSN)
	if err != nil {
		return fmt.Errorf("replica: %w: %w", sessiondb.ErrInvalid, err)
	}
	s.configure(config, Options{ReadOnly: true})
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	s.replica = &replica{pool: pool}
	c, err := s.acquire(ctx)
	if err != nil {
		pool.Close()
		return err
	}
	defer c.Release()
	s.noteWritten(ctx, c) // a store that was made just now is there before it is read
	return nil
}

// noteWritten remembers how far the log of the primary is now.
func (s *store) noteWritten(ctx context.Context, c *pgxpool.Conn) {
	if s.replica == nil {
		return
	}
	var text string
	var high, low uint64
	err := c.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text`).Scan(&text)
	if err == nil {
		_, err = fmt.Sscanf(text, "%X/%X", &high, &low)
	}
	if err != nil {
		s.replica.written.Store(unknownWritten)
		return
	}
	at := high<<32 | low
	for {
		old := s.replica.written.Load()
		if old != unknownWritten && old >= at || s.replica.written.CompareAndSwap(old, at) {
			return
		}
	}
}

// current is a connection to a replica that has what was written here, nil where
// there is none in time.
func (r *replica) current(ctx context.Context) *pgxpool.Conn {
	written := r.written.Load()
	if written == unknownWritten {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	c, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil
	}
	for {
		var has bool
		err := c.QueryRow(ctx, `SELECT COALESCE(NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $1::pg_lsn, false)`,
			fmt.Sprintf("%X/%X", written>>32, uint32(written))).Scan(&has) // #nosec G115 -- its two halves
		if err == nil && has {
			return c
		}
		if err != nil || retry.Pause(ctx, catchUpEvery) != nil {
			c.Release()
			return nil
		}
	}
}
