package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// importInput is one file of an import.
type importInput struct {
	name   string // as a person knows it
	open   func() (io.ReadCloser, error)
	walked bool // it was found in a folder
}

// importInputs are the files that arguments name. What can't be imported is told
// before a store is made for it.
func (a *app) importInputs(ctx context.Context, args []string) (inputs []importInput, err error) {
	for _, arg := range args {
		if arg == "-" {
			in := bufio.NewReader(&interruptible{ctx: ctx, r: a.In})
			inputs = append(inputs, importInput{name: "-", open: func() (io.ReadCloser, error) { return io.NopCloser(in), importable(arg, in) }})
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
	return inputs, a.openable(inputs)
}

// openable looks at the beginning of each file that was named.
func (a *app) openable(inputs []importInput) error {
	for _, in := range inputs {
		if in.walked {
			continue
		}
		f, err := in.open()
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// transcriptsBelow are the files in a folder that may hold sessions.
func (a *app) transcriptsBelow(dir string) (inputs []importInput, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return failf(err, "import %s: %v", path, cause(err))
		}
		if d.Type().IsRegular() && a.notOfStore(path) == nil && strings.EqualFold(filepath.Ext(path), ".jsonl") {
			inputs = append(inputs, importInput{name: path, walked: true, open: func() (io.ReadCloser, error) { return os.Open(path) }})
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
	in := importInput{name: path}
	in.open = func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, failf(err, "import %s: %v", path, cause(err))
		}
		lines := bufio.NewReader(f)
		if err := importable(path, lines); err != nil {
			_ = f.Close()
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{lines, f}, nil
	}
	if !info.Mode().IsRegular() { // a pipe gives what it has once
		f, err := os.Open(path)
		if err != nil {
			return in, failf(err, "import %s: %v", path, cause(err))
		}
		lines := bufio.NewReader(&interruptible{ctx: ctx, r: f})
		in.open = func() (io.ReadCloser, error) { return io.NopCloser(lines), importable(path, lines) }
	}
	return in, nil
}

// importable looks at the beginning of what is to be imported.
func importable(name string, in *bufio.Reader) error {
	const database = "SQLite format 3\x00"
	head, err := in.Peek(len(database))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return failf(err, "import %s: %v", name, cause(err))
	case string(head) == database:
		return failf(fs.ErrInvalid, "import %s: it is a database, not an export: read it with --db, or export it first", name)
	}
	return nil
}

// importTo imports the input, and tells apart what failed: to read it, or to
// store what was read.
func (in importInput) importTo(ctx context.Context, im *sessiondb.Importer) (readErr, storeErr error) {
	f, err := in.open()
	if err != nil {
		return err, nil
	}
	defer func() { _ = f.Close() }()
	r := &failingReader{r: f}
	err = im.Lines(ctx, in.name, r)
	if err != nil && ctx.Err() == nil && r.err != nil {
		return cmp.Or(r.err, err), nil
	}
	return nil, err
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
