package sqlite

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// writer lets the writes of this process through the one write connection.
// Who comes when nobody leads leads: it runs its own write, and all that wait
// by then, in one transaction, and passes the lead on. So a write alone costs
// no change of goroutine, and many at once cost one commit.
type writer struct {
	serve func(first *job) // runs a transaction, set by the store

	mu     sync.Mutex
	idle   sync.Cond // nobody leads
	led    bool
	closed bool
	line   []*job
}

// job is one call of Write. It waits until a leader takes it, unless its
// caller leaves first.
type job struct {
	ctx   context.Context
	fn    func(engine.Execer) error
	taken atomic.Bool   // by a leader, or by its caller who leaves
	wake  chan struct{} // closed when the job is done or made leader
	leads bool

	err      error
	panicked *panicked
	unindex  bool         // run it past a damaged full-text index
	solo     func() error // instead of fn: work that shares no transaction
}

// panicked is what a write panicked with, on its way to the caller.
type panicked struct{ value any }

func newWriter(serve func(*job)) *writer {
	w := &writer{serve: serve}
	w.idle.L = &w.mu
	return w
}

// do runs fn in a transaction and returns when it is durable, or was not done.
func (w *writer) do(ctx context.Context, fn func(engine.Execer) error) error {
	return w.wait(&job{ctx: ctx, fn: fn})
}

// alone runs fn while nobody writes.
func (w *writer) alone(ctx context.Context, fn func() error) error {
	return w.wait(&job{ctx: ctx, solo: fn})
}

// wait puts a job in line and returns when it is done, or was left.
func (w *writer) wait(j *job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	leads, err := w.join(j)
	if err != nil {
		return err
	}
	if !leads {
		select {
		case <-j.wake:
		case <-j.ctx.Done():
			if j.taken.CompareAndSwap(false, true) {
				return j.ctx.Err()
			}
			<-j.wake
		}
		leads = j.leads
	}
	if leads {
		w.lead(j)
	}
	if j.panicked != nil {
		panic(j.panicked.value)
	}
	return j.err
}

// join puts a job in line, or makes it the leader when there is none.
func (w *writer) join(j *job) (leads bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return false, sessiondb.ErrClosed
	case !w.led:
		w.led = true
		j.taken.Store(true)
		return true, nil
	}
	j.wake = make(chan struct{})
	w.line = append(w.line, j)
	return false, nil
}

func (w *writer) lead(j *job) {
	defer w.passOn()
	if j.solo != nil {
		j.err = j.solo()
		return
	}
	w.serve(j)
}

// passOn makes the next in line the leader.
func (w *writer) passOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.next(); j != nil {
		j.leads = true
		close(j.wake)
		return
	}
	w.led = false
	w.idle.Broadcast()
}

// next takes the first in line whose caller still waits.
func (w *writer) next() *job {
	for len(w.line) > 0 {
		j := w.line[0]
		w.line = w.line[1:]
		if j.taken.CompareAndSwap(false, true) {
			return j
		}
	}
	return nil
}

// takeWaiting takes up to n jobs that wait, not past one that runs alone.
func (w *writer) takeWaiting(n int) (jobs []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(jobs) < n && len(w.line) > 0 {
		j := w.line[0]
		if j.solo != nil && !j.taken.Load() {
			break
		}
		w.line = w.line[1:]
		if j.taken.CompareAndSwap(false, true) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// putBack returns jobs that were taken but not run to the head of the line.
func (w *writer) putBack(jobs []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		j.taken.Store(false)
	}
	w.line = append(append([]*job{}, jobs...), w.line...)
}

// close refuses further writes and waits for those under way.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for w.led {
		w.idle.Wait()
	}
}
