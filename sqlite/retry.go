package sqlite

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/retry"
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

// retryIf tries again while passes says that the error will pass. Where SQLite does
// not wait by itself, as when a log is turned on, there are more attempts: patience is
// a time.
func (s *store) retryIf(ctx context.Context, passes func(error) bool, op func() error) error {
	return retry.Do(ctx, s.pause, op, func(err error, n int, waited time.Duration) error {
		switch {
		case !passes(err), n >= retry.Attempts && !isBusy(err):
			return err
		case n >= retry.Attempts && waited >= s.patience():
			return &sessiondb.BusyError{Attempts: n, Waited: waited, Holders: othersWriting(s.real)}
		}
		return nil
	})
}

// patience is what all attempts take at least where each one waits.
func (s *store) patience() time.Duration {
	busy := s.busy
	if busy == 0 {
		busy = busyTimeout
	}
	return retry.Attempts * time.Duration(busy) * time.Millisecond
}
