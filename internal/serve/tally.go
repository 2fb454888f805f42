package serve

import (
	"context"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// counts are how much the store holds, as it was counted last.
type counts struct {
	Sessions, Messages int64
	Known              bool  // it was counted
	Err                error // of the last count
}

// tally counts what the store holds. A database counts rows by reading an entry of an
// index for each, which takes seconds where the index is not in memory: nobody waits
// for that, and no more than a hundredth of the time is spent on it.
type tally struct {
	mu      sync.Mutex
	running chan struct{} // closed when the count ends; nil while none runs
	ended   time.Time
	took    time.Duration
	last    counts
}

// countWait is how long a page waits for a count: most are done by then.
const countWait = 30 * time.Millisecond

// counted is what is known of how much the store holds. It is counted anew, beside, if
// that is due.
func (s *server) counted(ctx context.Context) counts {
	t := &s.tally
	if running := t.begin(s.ctx, s.db); running != nil {
		select {
		case <-running:
		case <-ctx.Done():
		case <-time.After(countWait):
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// begin begins a count if one is due, and returns the one that runs.
func (t *tally) begin(ctx context.Context, db *sessiondb.DB) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running != nil || time.Since(t.ended) < 100*t.took {
		return t.running
	}
	done := make(chan struct{})
	t.running = done
	go func() {
		defer close(done)
		begun := time.Now()
		var messages int64
		sessions, err := db.SessionCount(ctx, "")
		if err == nil {
			messages, err = db.MessageCount(ctx, "")
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running, t.ended, t.took, t.last.Err = nil, time.Now(), time.Since(begun), err
		if err == nil {
			t.last = counts{Sessions: sessions, Messages: messages, Known: true}
		}
	}()
	return done
}
