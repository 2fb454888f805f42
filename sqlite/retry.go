package sqlite

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// The policy against writers that do not queue with us: SQLite waits
// busyTimeout by itself, then the whole write is tried again after a random
// pause, so that competing processes do not march in step. Where SQLite does not
// wait, as when a log is turned on, there are more attempts: patience is a time.
const (
	maxAttempts = 15
	minPause    = 20 * time.Millisecond
	maxPause    = 150 * time.Millisecond
)

// retry runs op until it is not busy, or the policy is used up; then the error
// is a *sessiondb.BusyError. Another program that tries whether a log works, and
// turns it off again, is waited for too: op must begin on a fresh connection.
func (s *store) retry(ctx context.Context, op func() error) error {
	return s.retryIf(ctx, func(err error) bool { return isBusy(err) || noSharedMemory(err) }, op)
}

// retryBusy is retry for what goes on with the connection it has.
func (s *store) retryBusy(ctx context.Context, op func() error) error {
	return s.retryIf(ctx, isBusy, op)
}

func (s *store) retryIf(ctx context.Context, passes func(error) bool, op func() error) error {
	start := time.Now()
	for n := 1; ; n++ {
		err := op()
		if err == nil || !passes(err) {
			return err
		}
		if n >= maxAttempts && !isBusy(err) {
			return err
		}
		if waited := time.Since(start); n >= maxAttempts && waited >= s.patience() {
			return &sessiondb.BusyError{Attempts: n, Waited: waited, Holders: othersWriting(s.real)}
		}
		pause := minPause + rand.N(maxPause-minPause+1) // #nosec G404 -- keeps processes out of step, no secret
		if err := s.pause(ctx, pause); err != nil {
			return err
		}
	}
}

// patience is what all attempts take at least where each one waits.
func (s *store) patience() time.Duration {
	busy := s.busy
	if busy == 0 {
		busy = busyTimeout
	}
	return maxAttempts * time.Duration(busy) * time.Millisecond
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
