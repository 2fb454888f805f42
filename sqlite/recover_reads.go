package sqlite

import (
	"errors"
	"io"
)

// readTries is how often a read is tried that the system says it can't do: a
// signal, a cable or a network drive is at times the reason, and the next read
// works.
const readTries = 3

// patient reads again what could not be read.
type patient struct {
	io.ReaderAt
	missed *misreads
}

// misreads are the places that the system did not read, which is another thing
// than damage in what it reads: a later run may have them.
type misreads struct {
	places map[int64]bool
	err    error // the first
}

func (p patient) ReadAt(buf []byte, at int64) (n int, err error) {
	for range readTries {
		var more int
		more, err = p.ReaderAt.ReadAt(buf[n:], at+int64(n))
		if n += more; err == nil || errors.Is(err, io.EOF) {
			return n, err
		}
	}
	p.missed.add(at+int64(n), err)
	return n, err
}

func (m *misreads) add(at int64, err error) {
	if m.places == nil {
		m.places, m.err = map[int64]bool{}, err
	}
	m.places[at] = true
}
