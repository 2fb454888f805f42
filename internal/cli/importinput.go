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
	"slices"
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
	again  bool // it can be opened several times
}

// importInputs are the files of an import, and what can't be read of those that were
// asked for.
type importInputs struct {
	files      []importInput
	unreadable []sessiondb.ImportIssue
	first      error // why the first of those can't
}

// cannot notes what is not there or may not be read, where others may be. What is
// wrong in another way is an error.
func (in *importInputs) cannot(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if in.first == nil {
		in.first = err
	}
	in.unreadable = append(in.unreadable, sessiondb.ImportIssue{File: path, Reason: fmt.Sprint(cause(err))})
	return nil
}

// importInputs are the files that arguments name. What can't be imported is told
// before a store is made for it.
func (a *app) importInputs(ctx context.Context, args []string, format foreign.Format) (in importInputs, err error) {
	for _, arg := range args {
		if err := a.addInput(ctx, &in, arg, format); err != nil {
			return in, err
		}
	}
	if len(in.files) == 0 {
		return in, in.first
	}
	for i := range in.files {
		in.files[i].format = format
	}
	if len(in.files) > 1 {
		inOrder(in.files)
	}
	return in, nil
}

// addInput adds the files that one argument names.
func (a *app) addInput(ctx context.Context, in *importInputs, arg string, format foreign.Format) error {
	if arg == "-" {
		f := importInput{name: arg, format: format, open: onceOnly(ctx, a.In)}
		in.files = append(in.files, f)
		return f.usable(ctx)
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return in.cannot(arg, unopened(arg, err))
	case info.IsDir():
		return a.addTranscriptsBelow(in, arg)
	}
	f, err := a.importFile(ctx, arg, info)
	if err != nil {
		return err
	}
	f.format = format
	if err := f.usable(ctx); err != nil {
		return in.cannot(arg, err)
	}
	in.files = append(in.files, f)
	return nil
}

// usable looks at the beginning of a file that was named.
func (in importInput) usable(ctx context.Context) error {
	r, f, err := in.open()
	if err != nil {
		return unopened(in.name, err)
	}
	format, err := in.detect(r)
	if err == nil && in.again && in.format != foreign.Unknown && format != foreign.Sessiondb {
		err = in.fits(ctx, r)
	}
	return errors.Join(err, f.Close())
}

// fits reads up to the first message, to see whether a file has the format that was
// named. What else is wrong is told when it is imported.
func (in importInput) fits(ctx context.Context, r *bufio.Reader) error {
	head, _ := r.Peek(r.Buffered())
	is := foreign.Detect(head)
	t, err := foreign.New(in.format, in.name, r)
	for bad := (*sessiondb.LineError)(nil); err == nil && ctx.Err() == nil; {
		if _, err = t.Next(); err == nil {
			return nil
		}
		if errors.As(err, &bad) {
			err = nil
		}
	}
	if errors.Is(err, foreign.ErrOtherFormat) {
		return failf(fs.ErrInvalid, "import %s: %v", in.name, in.misnamed(is))
	}
	return nil
}

func unopened(path string, err error) error {
	return failf(err, "import %s: %v", path, cause(err))
}

// addTranscriptsBelow adds the files in a folder that may hold sessions.
func (a *app) addTranscriptsBelow(in *importInputs, dir string) error {
	before := len(in.files) + len(in.unreadable)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return in.cannot(path, unopened(path, err))
		case d.Type().IsRegular() && a.notOfStore(path) == nil && strings.EqualFold(filepath.Ext(path), ".jsonl"):
			in.files = append(in.files, importInput{name: path, walked: true, open: openedAgain(path)})
		}
		return nil
	})
	if err == nil && len(in.files)+len(in.unreadable) == before {
		err = failf(fs.ErrInvalid, "import %s: there is no *.jsonl in this folder", dir)
	}
	return err
}

func (a *app) importFile(ctx context.Context, path string, info fs.FileInfo) (importInput, error) {
	if err := a.notOfStore(path); err != nil {
		return importInput{}, err
	}
	in := importInput{name: path, open: openedAgain(path), again: true}
	if !info.Mode().IsRegular() {
		in.again, in.open = false, onceOnly(ctx, &whenRead{path: path})
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
			return "", unopened(in.name, err)
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
	head, _ := r.Peek(r.Buffered())
	head = slices.Clone(head)
	from := &failingReader{r: r}
	if format == foreign.Sessiondb {
		err = im.Lines(ctx, in.name, from)
	} else {
		var t sessiondb.Transcript
		if t, err = foreign.New(format, in.name, from); err == nil {
			d := &dated{Transcript: t, written: lastWritten(f)}
			if err = im.Transcript(ctx, in.name, d); err == nil && d.other {
				return &fs.PathError{Op: "read", Path: in.name, Err: in.misnamed(foreign.Detect(head))}, nil
			}
		}
	}
	if err != nil && ctx.Err() == nil && from.err != nil {
		return cmp.Or(from.err, err), nil
	}
	return nil, err
}

// misnamed says that --format names another format than a file has.
func (in importInput) misnamed(is foreign.Format) error {
	what := "give it without --format"
	if is != foreign.Unknown {
		what = fmt.Sprintf("it looks like %s: import it without --format", is)
	}
	return fmt.Errorf("no line of it is of the format %s; %s", in.format, what)
}

// dated is a transcript that tells when it was written. One of another format has no
// messages.
type dated struct {
	sessiondb.Transcript
	written time.Time
	other   bool
}

func (d *dated) Next() (sessiondb.TranscriptMessage, error) {
	m, err := d.Transcript.Next()
	if errors.Is(err, foreign.ErrOtherFormat) {
		d.other, err = true, io.EOF
	}
	return m, err
}

func (d *dated) Session(id string) sessiondb.TranscriptSession {
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
