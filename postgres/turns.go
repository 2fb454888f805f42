package postgres

import (
	"context"
	"sync"
)

// turns are those of the writers of this process. They wait for each other before
// they take a connection: one that waits for a lock on the server is missing
// elsewhere, and readers need some too.
type turns struct {
	slots chan struct{} // holds one for each that writes

	mu    sync.Mutex
	lines map[string]*line
}

// line is what the writers of a name stand in. The one at its front has put
// something into the channel.
type line struct {
	front chan struct{}
	in    int
}

func newTurns(writers int) *turns {
	return &turns{slots: make(chan struct{}, max(writers, 1)), lines: map[string]*line{}}
}

// everything is the name of a write that is about no names.
const everything = "\x00everything"

// enter waits until nobody else of this process writes about one of the names,
// which come in order, and there is room for one more writer. leave ends the turn.
func (t *turns) enter(ctx context.Context, names []string) (leave func(), err error) {
	if names == nil {
		names = []string{everything}
	}
	var fronts []chan struct{}
	leave = func() {
		for i, f := range fronts {
			<-f
			if i < len(names) {
				t.part(names[i])
			}
		}
	}
	for i := range len(names) + 1 {
		front := t.slots
		if i < len(names) {
			front = t.join(names[i])
		}
		select {
		case front <- struct{}{}:
			fronts = append(fronts, front)
		case <-ctx.Done():
			if i < len(names) {
				t.part(names[i])
			}
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

// join stands in the line of a name.
func (t *turns) join(name string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[name]
	if l == nil {
		l = &line{front: make(chan struct{}, 1)}
		t.lines[name] = l
	}
	l.in++
	return l.front
}

// part leaves the line of a name.
func (t *turns) part(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[name]; l.in == 1 {
		delete(t.lines, name)
	} else {
		l.in--
	}
}
