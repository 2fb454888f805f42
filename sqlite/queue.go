package sqlite

import (
	"context"
	"os"
	"sync"
	"time"
)

// queueWait is how long a write waits for its turn among our processes. Then
// it goes on without: a process that was stopped while it had its turn holds
// nobody up for longer.
const queueWait = 2 * time.Second

// queue lets the processes that write to a store take turns. SQLite's lock is
// first grabbed, first served, so that competitors starve; here they line up.
// The locks are advisory, on a file of their own beside the database: closing
// any descriptor of the database itself would drop SQLite's locks.
//
// Two locks make the line fair: who has its turn holds turnLock, the next one
// waits for it holding doorLock, and the others wait for doorLock. So who has
// just had a turn finds the door shut and gets behind the next one.
type queue struct {
	file     *os.File      // nil where there can be no queue
	isNew    bool          // this queue made the file
	patience time.Duration // queueWait, but in tests

	mu     sync.Mutex
	helper *helper // is waiting in line, nil when there is none
	closed bool
}

// helper waits in line on a goroutine of its own, since the wait can't be cut
// short. Whoever gives up leaves it behind; the next one finds it further up.
type helper struct {
	done    chan struct{} // closed when it has the turn
	through bool
	left    bool // nobody waits for it
	overdue bool // nobody should
}

// queueSuffix is what the file of the queue is named, after the store.
const queueSuffix = "-queue"

// The locks, as byte ranges of the file.
const (
	turnLock = iota
	doorLock
)

// openQueue opens the file of the queue. Without one, or on systems without
// such locks, the queue lets everybody through.
func openQueue(path string) *queue {
	if !canQueue {
		return &queue{}
	}
	f, isNew, err := ownFile(path)
	if err != nil {
		return &queue{}
	}
	return &queue{file: f, isNew: isNew, patience: queueWait}
}

// discard removes the file, if this queue made it.
func (q *queue) discard() {
	if q.isNew {
		_ = os.Remove(q.file.Name())
	}
}

// usable says whether there is a file.
func (q *queue) usable() bool { return q.file != nil }

// acquire waits for the turn, which release ends. It fails only when ctx ends.
func (q *queue) acquire(ctx context.Context) (release func(), err error) {
	if q.file == nil {
		return func() {}, nil
	}
	h, mine := q.enter()
	if h == nil {
		if mine {
			return q.endTurn, nil
		}
		return func() {}, nil
	}
	t := time.NewTimer(q.patience)
	defer t.Stop()
	overdue := false
	select {
	case <-h.done:
	case <-t.C:
		overdue = true
	case <-ctx.Done():
	}
	if !q.leave(h, overdue) {
		return func() {}, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		q.endTurn()
		return nil, err
	}
	return q.endTurn, nil
}

// enter takes the turn if it is free; else it returns the helper to wait for,
// or none when waiting has no point.
func (q *queue) enter() (h *helper, mine bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, false
	case q.helper != nil && q.helper.overdue:
		return nil, false
	case q.helper != nil:
		q.helper.left = false
		return q.helper, false
	}
	door := lockRange(q.file, doorLock, false) == nil
	if door && lockRange(q.file, turnLock, false) == nil {
		unlockRange(q.file, doorLock)
		return nil, true
	}
	q.helper = &helper{done: make(chan struct{})}
	go q.line(q.helper, door)
	return q.helper, false
}

// line waits in line for the turn.
func (q *queue) line(h *helper, door bool) {
	if !door {
		_ = lockRange(q.file, doorLock, true)
	}
	_ = lockRange(q.file, turnLock, true)
	unlockRange(q.file, doorLock)
	q.mu.Lock()
	defer q.mu.Unlock()
	h.through = true
	close(h.done)
	if !h.left {
		return
	}
	q.helper = nil
	unlockRange(q.file, turnLock)
	if q.closed {
		_ = q.file.Close()
	}
}

// leave ends the wait for a helper and says whether it has the turn.
func (q *queue) leave(h *helper, overdue bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h.through {
		q.helper = nil
		return true
	}
	h.left, h.overdue = true, overdue
	return false
}

func (q *queue) endTurn() { unlockRange(q.file, turnLock) }

// close gives the file back, once no helper needs it. A nil queue is fine.
func (q *queue) close() {
	if q == nil || q.file == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed && q.helper == nil {
		_ = q.file.Close()
	}
	q.closed = true
}
