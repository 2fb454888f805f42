package cli

import (
	"context"
	"io"
)

// interruptible is a reader that does not wait for input, from a pipe or a
// person, once its context has ended.
type interruptible struct {
	ctx    context.Context
	r      io.Reader
	asked  chan []byte
	chunks chan chunk
	rest   chunk
}

type chunk struct {
	data []byte
	err  error
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.asked == nil {
		i.asked, i.chunks = make(chan []byte, 1), make(chan chunk, 1)
		go i.pump()
	}
	if len(i.rest.data) == 0 && i.rest.err == nil {
		i.asked <- make([]byte, max(len(p), 1<<16))
		select {
		case <-i.ctx.Done():
			i.rest.err = i.ctx.Err()
		case i.rest = <-i.chunks:
		}
	}
	n := copy(p, i.rest.data)
	i.rest.data = i.rest.data[n:]
	if len(i.rest.data) > 0 {
		return n, nil
	}
	return n, i.rest.err
}

// pump reads what is asked for. A read that never returns is left behind.
func (i *interruptible) pump() {
	for buf := range i.asked {
		n, err := i.r.Read(buf)
		i.chunks <- chunk{buf[:n], err}
		if err != nil {
			return
		}
	}
}
