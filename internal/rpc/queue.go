package rpc

import (
	"slices"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

// queue runs calls at the same time where their order makes no difference, and
// in the order they came otherwise.
type queue struct {
	workers chan struct{} // a token a running call
	room    chan struct{} // a token a call in the queue

	mu      sync.Mutex
	pending []*ticket // calls that have not ended, in the order they came
}

// ticket is a call in the queue.
type ticket struct {
	access   api.Access
	sessions []string
	done     chan struct{}
}

// roomPerWorker is how many calls wait or run for each worker before reading
// stands still.
const roomPerWorker = 4

func newQueue(workers int) *queue {
	return &queue{workers: make(chan struct{}, workers), room: make(chan struct{}, workers*roomPerWorker)}
}

// run takes a call's place in the queue now, waiting for room, and runs it when
// its turn comes, on a goroutine of its own.
func (q *queue) run(t *ticket, call func()) {
	q.room <- struct{}{}
	before := q.enter(t)
	go func() {
		for _, b := range before {
			<-b.done
		}
		q.workers <- struct{}{}
		defer func() {
			<-q.workers
			q.leave(t)
			<-q.room
		}()
		call()
	}()
}

// enter puts a call at the end and returns those it has to wait for.
func (q *queue) enter(t *ticket) (before []*ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range q.pending {
		if conflict(p, t) {
			before = append(before, p)
		}
	}
	t.done = make(chan struct{})
	q.pending = append(q.pending, t)
	return before
}

func (q *queue) leave(t *ticket) {
	q.mu.Lock()
	q.pending = slices.DeleteFunc(q.pending, func(p *ticket) bool { return p == t })
	q.mu.Unlock()
	close(t.done)
}

// conflict reports whether the order of two calls can make a difference: one of
// them writes what the other reads or writes.
func conflict(a, b *ticket) bool {
	switch {
	case a.access == api.Nothing || b.access == api.Nothing:
		return false
	case a.access == api.WritesStore || b.access == api.WritesStore:
		return true
	case !a.access.Writes() && !b.access.Writes():
		return false
	case a.access.ReadsAll() || b.access.ReadsAll():
		return true
	}
	return slices.ContainsFunc(a.sessions, func(id string) bool { return id != "" && slices.Contains(b.sessions, id) })
}
