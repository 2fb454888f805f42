package sqlite

import (
	"context"
	"sync"

	"github.com/sessiondb-go/sessiondb"
)

// maxReaders bounds the connections for reading. They are opened when needed.
const maxReaders = 8

// pool keeps connections for reading. The one used last is handed out first:
// its cache is warm.
type pool struct {
	dial  func(context.Context) (*conn, error)
	slots chan struct{} // one per connection that is handed out

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(dial func(context.Context) (*conn, error)) *pool {
	return &pool{dial: dial, slots: make(chan struct{}, maxReaders)}
}

// take hands out a connection, waiting for one if need be.
func (p *pool) take(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return p.connect(ctx)
}

// tryTake is take that returns nil where it would wait.
func (p *pool) tryTake(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
		return p.connect(ctx)
	default:
		return nil, nil
	}
}

// connect hands out a connection to who has a slot.
func (p *pool) connect(ctx context.Context) (*conn, error) {
	c, err := p.idleConn()
	if c == nil && err == nil {
		c, err = p.dial(ctx)
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

func (p *pool) idleConn() (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, sessiondb.ErrClosed
	}
	n := len(p.idle)
	if n == 0 {
		return nil, nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c, nil
}

// put takes a connection back. One whose transaction could not be ended is
// not used again.
func (p *pool) put(c *conn, sound bool) {
	if sound {
		c.keepMore()
	}
	p.mu.Lock()
	keep := sound && !p.closed
	if keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		_ = c.close()
	}
	<-p.slots
}

// close waits for the connections that are handed out and closes all.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for range maxReaders {
		p.slots <- struct{}{}
	}
	var first error
	for _, c := range p.idle {
		if err := c.close(); err != nil && first == nil {
			first = err
		}
	}
	p.idle = nil
	for range maxReaders {
		<-p.slots
	}
	return first
}
