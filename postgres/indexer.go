package postgres

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// indexer puts messages into the index soon after they were written: many at a time
// cost less than one by one, and who writes does not wait for it. What is left over,
// by a program that was killed or that is not ours, the next one takes.
type indexer struct {
	index func(ctx context.Context, going func(n int) bool) error // store.indexWaiting
	log   *slog.Logger

	wake    chan struct{} // there is something to do
	many    chan struct{} // and it should not wait for more
	ctx     context.Context
	cancel  context.CancelFunc
	closing chan struct{}
	begin   sync.Once
	ended   chan struct{} // closed when the goroutine is gone, or was never there

	behind atomic.Int64 // messages that this store wrote and that may wait
}

const (
	// gatherFor is how long messages are waited for that can be indexed together.
	gatherFor = 25 * time.Millisecond

	// maxBehind is how many messages of a store may wait. Who writes more indexes some.
	maxBehind = 400

	// closeWait is how long Close goes on with it.
	closeWait = 5 * time.Second
)

func newIndexer(index func(context.Context, func(int) bool) error, log *slog.Logger) *indexer {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	x := &indexer{index: index, log: log, wake: make(chan struct{}, 1), many: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// look makes the indexer look for messages that wait. Without one it does nothing.
func (x *indexer) look() {
	if x == nil {
		return
	}
	x.begin.Do(func() { go x.run() })
	signal(x.wake)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was given before
	}
}

// wrote tells the indexer of n messages that were written. Where more wait than may,
// it does not return before some of them are indexed.
func (s *store) wrote(ctx context.Context, n int64) {
	x := s.indexer
	if x == nil {
		return
	}
	behind := x.behind.Add(n)
	x.look()
	if behind >= indexStep {
		signal(x.many)
	}
	if behind <= maxBehind {
		return
	}
	leave, err := s.turns.enter(ctx, []string{}) // as a writer does
	if err != nil {
		return // it is written all the same
	}
	defer leave()
	if x.behind.Load() > maxBehind {
		_ = s.indexWaiting(ctx, func(n int) bool { return x.done(n) > maxBehind }) // an error shows in run
	}
}

// run indexes until the indexer is closed and what this store wrote is done.
func (x *indexer) run() {
	defer close(x.ended)
	failed := false
	for open := true; open; {
		select {
		case <-x.wake:
			open = x.gather()
		case <-x.closing:
			open = false
		}
		err := x.index(x.ctx, x.going)
		if err != nil && !failed && x.ctx.Err() == nil {
			x.log.Warn("messages are not put into the search index, and searches read them", "error", mapError(err))
		}
		failed = err != nil // it is tried again with the next write or search
		x.done(math.MaxInt)
	}
}

// gather waits a moment for more; it is false where there will be none.
func (x *indexer) gather() bool {
	t := time.NewTimer(gatherFor)
	defer t.Stop()
	select {
	case <-t.C:
	case <-x.many:
	case <-x.closing:
		return false
	}
	return true
}

// going notes that n messages were indexed. It is false when nobody waits for more.
func (x *indexer) going(n int) bool {
	left := x.done(n)
	select {
	case <-x.closing:
		return left > 0
	default:
		return true
	}
}

// done notes that n messages were indexed, and returns how many of this store are left.
func (x *indexer) done(n int) int64 {
	for {
		behind := x.behind.Load()
		left := max(0, behind-int64(n))
		if x.behind.CompareAndSwap(behind, left) {
			return left
		}
	}
}

// close ends the indexer, after it has done what this store wrote.
func (x *indexer) close() {
	if x == nil {
		return
	}
	x.begin.Do(func() { close(x.ended) }) // nothing was written
	close(x.closing)
	t := time.AfterFunc(closeWait, x.cancel)
	<-x.ended
	t.Stop()
	x.cancel()
}
