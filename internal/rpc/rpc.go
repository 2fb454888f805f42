// Package rpc speaks JSON-RPC 2.0 over a pair of streams, one JSON value a
// line. It is a transport: the methods, their parameters and their errors are
// those of internal/api, and rpc.discover lists them. It writes nothing but
// responses and holds no rules about sessions.
//
// # Order
//
// The answers on one connection are what they would be if its requests ran one
// after another. They run at the same time where that makes no difference:
// reads beside reads, and calls that name different sessions beside each other.
// So what was written before is found by what is asked after, calls that name
// the same session run in order, and a call that concerns the whole store (an
// import, a pruning, a title, which must be unique) waits for what came before
// it and is waited for. Responses come as they are ready: match them by id.
//
// # Lines
//
// A line is a request, a notification (no id: no response) or a batch of them
// (a list; its responses come as one list, in order). A line that is none of
// these gets an error with a null id and the next line works. Empty lines are
// passed over.
package rpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/sessiondb-go/sessiondb"
)

// The defaults of Options.
const (
	DefaultWorkers = 16
	DefaultMaxLine = 64 << 20
)

// Options shape Serve. The zero value works.
type Options struct {
	// Workers is how many requests run at the same time; 0 means
	// DefaultWorkers.
	Workers int
	// MaxLine is how long a line may be, in bytes; 0 means DefaultMaxLine. Of a
	// longer one nothing is kept, and the error names the limit.
	MaxLine int
	// Logger is told of panics in methods, whose caller only learns that there
	// was one; nil discards.
	Logger *slog.Logger
}

// Serve answers the requests that r brings on w, until r ends: then it finishes
// what runs and returns nil. When ctx ends, calls under way are cancelled and
// answered, and Serve returns its error; a Read of r that never returns is left
// behind. A failing r or w ends it too, with that error.
func Serve(ctx context.Context, db *sessiondb.DB, r io.Reader, w io.Writer, o Options) error {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{
		db: db, options: o, out: &output{w: w, failed: cancel},
		queue: newQueue(o.Workers),
	}
	err := s.readLines(ctx, r)
	s.lines.Wait()
	if err == nil {
		err = s.out.err
	}
	return err
}

type server struct {
	db      *sessiondb.DB
	options Options
	out     *output
	queue   *queue
	lines   sync.WaitGroup // lines that wait for their answers
}

// line is what reading one line gave.
type line struct {
	text []byte
	err  error
}

// readLines hands over lines until there are no more or ctx ends. Reading
// stands still while the queue is full.
func (s *server) readLines(ctx context.Context, r io.Reader) error {
	lines := make(chan line)
	go func() {
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			text, err := readLine(in, s.options.MaxLine)
			select {
			case lines <- line{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errTooLong) {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case l := <-lines:
			if s.handleLine(ctx, l.text, l.err); l.err != nil && !errors.Is(l.err, errTooLong) {
				return endOf(l.err)
			}
		}
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var errTooLong = errors.New("line is too long")

// readLine returns the next line without its end. A line over the limit is
// errTooLong, read to its end and not kept; the last line may lack a line
// break, and comes with io.EOF.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if long = long || len(text)+len(part) > limit; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			err = errTooLong
		}
		return text, err
	}
}

// output writes whole lines, one at a time. The first failure ends the
// connection.
type output struct {
	mu     sync.Mutex
	w      io.Writer
	failed context.CancelCauseFunc
	err    error
}

func (o *output) writeLine(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if _, o.err = o.w.Write(append(b, '\n')); o.err != nil {
		o.failed(o.err)
	}
}
