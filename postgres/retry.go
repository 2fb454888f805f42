package postgres

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// lockTimeout is how long the server itself waits for a lock. Then the whole write
// is tried again.
const lockTimeout = time.Second

// retry runs op until nobody is in the way, or the policy is used up; then the
// error is a *sessiondb.BusyError.
func (s *store) retry(ctx context.Context, op func() error) error {
	return retry.Do(ctx, s.pause, op, func(err error, n int, waited time.Duration) error {
		switch {
		case !isBusy(err):
			return err
		case n < retry.Attempts:
			return nil
		case sqlState(err) == uniqueViolation:
			return err // nobody was in the way: it is there
		}
		return &sessiondb.BusyError{Attempts: n, Waited: waited}
	})
}
