package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/foreign"
)

// importInput is one file of an import.
type importInput struct {
	name   string // as a person knows it
	format foreign.Format
	open   func() (*bufio.Reader, io.Closer, error)
	walked bool // it was found in a folder
}

// importInputs are the files that arguments name. What can't be imported is told
// before a store is made for it.
func (a *app) importInputs(ctx context.Context, args []string, format foreign.Format) (inputs []importInput, err error) {
	for _, arg := range args {
		if arg == "-" {
			inputs = append(inputs, importInput{name: arg, open: onceOnly(ctx, a.In)})
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, failf(err, "import %s: %v", arg, cause(err))
		case info.IsDir():
			found, err := a.transcriptsBelow(arg)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, found...)
		default:
			in, err := a.importFile(ctx, arg, info)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, in)
		}
	}
	for i := range inputs {
		inputs[i].format = format
		if inputs[i].walked {
			continue
		}
		if err := inputs[i].usable(); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// usable looks at the beginning of a file that was named.
func (in importInput) usable() error {
	r, f, err := in.open()
	if err != nil {
		return failf(err, "import %s: %v", in.name, cause(err))
	}
	_, err = in.detect(r)
	return errors.Join(err, f.Close())
}

// transcriptsBelow are the files in a folder that may hold sessions.
func (a *app) transcriptsBelow(dir string) (inputs []importInput, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return failf(err, "import %s: %v", path, cause(err))
		}
		if d.Type().IsRegular() && a.notOfStore(path) == nil && strings.EqualFold(filepath.Ext(path), ".jsonl") {
			inputs = append(inputs, importInput{name: path, walked: true, open: openedAgain(path)})
		}
		return nil
	})
	if err == nil && len(inputs) == 0 {
		err = failf(fs.ErrInvalid, "import %s: there is no *.jsonl in this folder", dir)
	}
	return inputs, err
}

func (a *app) importFile(ctx context.Context, path string, info fs.FileInfo) (importInput, error) {
	if err := a.notOfStore(path); err != nil {
		return importInput{}, err
	}
	in := importInput{name: path, open: openedAgain(path)}
	if !info.Mode().IsRegular() {
		in.open = onceOnly(ctx, &whenRead{path: path})
	}
	return in, nil
}

// openedAgain opens a file each time.
func openedAgain(path string) func() (*bufio.Reader, io.Closer, error) {
	return func() (*bufio.Reader, io.Closer, error) {
		f, err := os.Open(path) // #nosec G304 -- what the user named
		if err != nil {
			return nil, nil, err
		}
		return bufio.NewReaderSize(f, foreign.DetectSize), f, nil
	}
}

// onceOnly goes on with what a pipe gives.
func onceOnly(ctx context.Context, r io.Reader) func() (*bufio.Reader, io.Closer, error) {
	in := bufio.NewReaderSize(&interruptible{ctx: ctx, r: r}, foreign.DetectSize)
	return func() (*bufio.Reader, io.Closer, error) { return in, io.NopCloser(nil), nil }
}

// whenRead is a file that the first read opens, which waits as long as nobody
// writes to a named pipe.
type whenRead struct {
	path string
	f    *os.File
}

func (w *whenRead) Read(p []byte) (int, error) {
	if w.f == nil {
		f, err := os.Open(w.path) // #nosec G304 -- what the user named
		if err != nil {
			return 0, err
		}
		w.f = f
	}
	return w.f.Read(p)
}

var errNoTranscript = errors.New("it is none of the formats that are known; --format says which one it is")

// detect tells the format from the beginning of the file. It does not wait for
// more of it than it takes.
func (in importInput) detect(r *bufio.Reader) (foreign.Format, error) {
	const database = "SQLite format 3\x00"
	for n := 1; ; {
		_, err := r.Peek(n)
		head, _ := r.Peek(r.Buffered())
		f := foreign.Detect(head)
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return "", failf(err, "import %s: %v", in.name, cause(err))
		case strings.HasPrefix(string(head), database):
			return "", failf(fs.ErrInvalid, "import %s: it is a database, not an export: 'sessiondb merge' takes over its sessions", in.name)
		case in.format != foreign.Unknown:
			return in.format, nil
		case f != foreign.Unknown:
			return f, nil
		case err != nil && len(head) == 0:
			return foreign.Sessiondb, nil // of no sessions
		case err != nil:
			return "", fmt.Errorf("import %s: %w", in.name, errNoTranscript)
		}
		n = len(head) + 1
	}
}

// importTo imports the input, and tells apart what failed: to read it, or to
// store what was read.
func (in importInput) importTo(ctx context.Context, im *sessiondb.Importer) (readErr, storeErr error) {
	r, f, err := in.open()
	if err != nil {
		return err, nil
	}
	defer func() { _ = f.Close() }()
	format, err := in.detect(r)
	if err != nil {
		return err, nil
	}
	from := &failingReader{r: r}
	if format == foreign.Sessiondb {
		err = im.Lines(ctx, in.name, from)
	} else {
		var t sessiondb.Transcript
		if t, err = foreign.New(format, in.name, from); err == nil {
			err = im.Transcript(ctx, in.name, dated{t, lastWritten(f)})
		}
	}
	if err != nil && ctx.Err() == nil && from.err != nil {
		return cmp.Or(from.err, err), nil
	}
	return nil, err
}

// dated is a transcript that tells when it was written.
type dated struct {
	sessiondb.Transcript
	written time.Time
}

func (d dated) Session(id string) sessiondb.TranscriptSession {
	s := d.Transcript.Session(id)
	s.Written = d.written
	return s
}

// lastWritten is when a file was changed last, zero for what is none.
func lastWritten(c io.Closer) time.Time {
	if f, ok := c.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// failingReader remembers what reading failed with.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
