package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// lockTimeout is how long the server itself waits for a lock. Then the whole write
// is tried again.
const lockTimeout = time.Second

// patience is how long a write waits for a server that can't be reached: so long
// may it take until another server takes the place of one that failed.
const patience = 30 * time.Second

// retry runs op until nobody is in the way, or the policy is used up; then the
// error is a *sessiondb.BusyError. A connection that was lost is made anew. Who does
// not wait for so long hears why there is none all the same.
func (s *store) retry(ctx context.Context, op func() error) error {
	busy := 0
	var gone *goneError
	err := retry.Do(ctx, s.pause, op, func(err error, _ int, waited time.Duration) error {
		if errors.As(err, &gone) {
			if waited < patience {
				return nil
			}
			return err
		}
		switch busy++; {
		case !isBusy(err):
			return err
		case busy < retry.Attempts:
			return nil
		case sqlState(err) == uniqueViolation:
			return err // nobody was in the way: it is there
		}
		return &sessiondb.BusyError{Attempts: busy, Waited: waited}
	})
	if gone != nil && errors.Is(err, context.DeadlineExceeded) {
		return gone
	}
	return err
}
