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

// bom may stand at the beginning of a file.
var bom = []byte("\uFEFF")

var errNotJSON = errors.New("not JSON")

// lines reads a file line by line.
type lines struct {
	r       *bufio.Reader
	buf     []byte
	n       int64 // of the line that was read
	cut     bool  // it has no end
	ended   bool
	known   bool   // one line at least is of the format
	session string // that it is of, for errors
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// largeLine is how many bytes are kept to read the next line into.
const largeLine = 1 << 20

// done says that the line which was read is not needed any more.
func (l *lines) done() {
	if cap(l.buf) > largeLine {
		l.buf = nil
	}
}

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
			line = bytes.TrimPrefix(line, bom)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// ErrOtherFormat is the end of a file of which no line is of the format.
var ErrOtherFormat = errors.New("no line of it is of this format")

// end is how the file ended.
func (l *lines) end(err error) error {
	if errors.Is(err, io.EOF) && l.n > 0 && !l.known {
		return ErrOtherFormat
	}
	return err
}

// unknownKind names what a line is that nothing is known of.
type unknownKind string

func (k unknownKind) Error() string { return "of a kind that is not known: " + string(k) }

// failed is the error of the line that was read.
func (l *lines) failed(err error) error {
	var kind unknownKind
	if errors.As(err, &kind) {
		return &sessiondb.LineError{Line: l.n, SessionID: l.session, Kind: string(kind), Reason: kind.Error()}
	}
	return l.bad(err.Error())
}

// bad is the error of the line that was read. A last line that breaks off may
// still be being written.
func (l *lines) bad(reason string) error {
	e := &sessiondb.LineError{Line: l.n, SessionID: l.session, Reason: reason}
	if l.cut && reason == errNotJSON.Error() {
		l.known = true // or will be
		e.Unfinished, e.Reason = true, "the last line breaks off; it is imported once it is whole"
	}
	return e
}
