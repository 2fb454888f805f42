package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sessiondb-go/sessiondb"
)

// MaxLine is how many bytes a line may have. One is held in memory.
const MaxLine = 128 << 20

var errNotJSON = errors.New("not JSON")

// lines reads a file line by line.
type lines struct {
	r       *bufio.Reader
	buf     []byte
	n       int64 // of the line that was read
	cut     bool  // it has no end
	ended   bool
	session string // that it is of, for errors
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not blank, valid until it is called again.
// One that is too long is passed over, and is a [*sessiondb.LineError].
func (l *lines) next() ([]byte, error) {
	for {
		l.buf = l.buf[:0]
		long := false
		var err error
		for {
			var part []byte
			part, err = l.r.ReadSlice('\n')
			if long = long || len(l.buf)+len(part) > MaxLine; !long {
				l.buf = append(l.buf, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if err != nil && (len(l.buf) == 0 && !long || !errors.Is(err, io.EOF)) {
			return nil, err
		}
		l.n++
		l.cut = err != nil
		if long {
			return nil, l.bad(fmt.Sprintf("longer than %d bytes", MaxLine))
		}
		line := l.buf
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// bad is the error of the line that was read. A last line that breaks off may
// still be being written.
func (l *lines) bad(reason string) error {
	e := &sessiondb.LineError{Line: l.n, SessionID: l.session, Reason: reason}
	if l.cut && reason == errNotJSON.Error() {
		e.Unfinished, e.Reason = true, "the last line breaks off; it is imported once it is whole"
	}
	return e
}
