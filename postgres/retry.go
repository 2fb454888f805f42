package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// The policy against others that write: the server waits lockTimeout by itself,
// then the whole write is tried again after a random pause, so that competing
// processes do not march in step. It is that of a store in a file.
const (
	maxAttempts = 15
	minPause    = 20 * time.Millisecond
	maxPause    = 150 * time.Millisecond
	lockTimeout = time.Second
)

// retry runs op until nobody is in the way, or the policy is used up; then the
// error is a *sessiondb.BusyError.
func (s *store) retry(ctx context.Context, op func() error) error {
	start := time.Now()
	for n := 1; ; n++ {
		err := op()
		if err == nil || !isBusy(err) {
			return err
		}
		switch {
		case n < maxAttempts:
		case sqlState(err) == uniqueViolation:
			return err // nobody was in the way: it is there
		default:
			return &sessiondb.BusyError{Attempts: n, Waited: time.Since(start)}
		}
		if err := s.pause(ctx, minPause+rand.N(maxPause-minPause+1)); err != nil { // #nosec G404 -- keeps processes out of step, no secret
			return err
		}
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
