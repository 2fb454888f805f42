package sessiondb

import (
	"context"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// exportPage is how many sessions are read in a turn, with the whole rows of
// those that are written.
const exportPage = 16

// exportTurns are what the readers of an export share. They take turns, each a
// page of sessions, in the order in which they are written.
type exportTurns struct {
	order   chan *exportPipe // who has the next turn; closed when all is read
	stopped chan struct{}    // closed when nobody wants more
	total   int64            // of the sessions

	mu    sync.Mutex
	last  exportKey
	done  bool
	taken int
}

func newExportTurns() *exportTurns {
	return &exportTurns{order: make(chan *exportPipe, 2*exportBatches), stopped: make(chan struct{})}
}

// take gives a reader the next page, the last of which is short, and false when
// there are no more.
func (x *exportReader) take(ctx context.Context) (page []exportRow, ok bool, err error) {
	t := x.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return nil, false, nil
	}
	err = x.pastDamage(ctx, func() error {
		page, err = x.page(ctx, t.last)
		return err
	})
	if t.done = err != nil || len(page) < exportPage; !t.done {
		t.last = page[len(page)-1].exportKey
	}
	t.taken++
	x.turn = t.taken
	select {
	case t.order <- x.pipe:
	case <-t.stopped:
		err = errExportStopped
	}
	return page, true, err
}

// read has one reader, or two, read all. An error is that of the turn that ends
// the export.
func (t *exportTurns) read(ctx context.Context, db *DB, f ExportFilter) error {
	run := func(a, b engine.Queryer) error {
		x := exportReader{q: a, f: f, turns: t}
		if err := x.pastDamage(ctx, func() error { return x.plan(ctx) }); err != nil {
			return err
		}
		if b == nil {
			return x.run(ctx)
		}
		y := x
		y.q = b
		var wg sync.WaitGroup
		var xErr, yErr error
		wg.Go(func() { yErr = y.run(ctx) })
		xErr = x.run(ctx)
		wg.Wait()
		if xErr == nil || yErr != nil && y.turn < x.turn {
			return yErr
		}
		return xErr
	}
	if pair, ok := db.engine.(engine.Paired); ok && f.Redact == nil && f.IDs == nil {
		return pair.ReadPair(ctx, run)
	}
	return db.read(ctx, func(q engine.Queryer) error { return run(q, nil) })
}

// stop ends the export, and returns when nobody reads any more.
func (t *exportTurns) stop() {
	close(t.stopped)
	for range t.order {
		continue // nobody wants it
	}
}
