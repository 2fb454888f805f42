package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/retry"
)

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inTheWay, enough := errors.New("in the way"), errors.New("enough")
		tries := 0
		err := retry.Do(t.Context(), retry.Pause, func() error { tries++; return inTheWay }, func(err error, n int, waited time.Duration) error {
			pauses := time.Duration(n - 1)
			if err != inTheWay || n != tries || waited < pauses*retry.MinPause || waited > pauses*retry.MaxPause {
				t.Errorf("%v, try %d of %d, after %v", err, n, tries, waited)
			}
			if n == retry.Attempts {
				return enough
			}
			return nil
		})
		if err != enough || tries != retry.Attempts {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}

func TestPauseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := retry.Do(ctx, retry.Pause, func() error { return errors.New("no") }, func(error, int, time.Duration) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
