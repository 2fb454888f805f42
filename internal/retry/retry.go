// Package retry is the patience that every engine has with others that write. It
// knows no database.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// The policy: a write is tried as often, with a random pause between two tries, so
// that competing processes do not march in step.
const (
	Attempts = 15
	MinPause = 20 * time.Millisecond
	MaxPause = 150 * time.Millisecond
)

// Do runs op until it returns nil. After an error, verdict is asked with the number
// of tries so far and the time since the first: nil is to try again, anything else is
// what Do returns. Between two tries Do calls pause, and returns its error.
func Do(ctx context.Context, pause func(context.Context, time.Duration) error, op func() error,
	verdict func(err error, tries int, waited time.Duration) error) error {
	start := time.Now()
	for n := 1; ; n++ {
		err := op()
		if err == nil {
			return nil
		}
		if err := verdict(err, n, time.Since(start)); err != nil {
			return err
		}
		if err := pause(ctx, MinPause+rand.N(MaxPause-MinPause+1)); err != nil { // #nosec G404 -- keeps processes out of step, no secret
			return err
		}
	}
}

// Pause waits for d, or until ctx ends: then it returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
