package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sessiondb-go/sessiondb"
)

// storeSuffixes name the files that belong to a store: itself and those that
// are kept beside it. A log or a journal that is overwritten costs messages.
var storeSuffixes = []string{"", "-wal", "-shm", "-journal", "-queue"}

// writeFile writes a file that appears under its name when it is complete, and
// of which nothing is left when write fails. What is no regular file (a pipe,
// a device) is written to as it is. A symbolic link to a file is refused: where
// others may write, they would choose what is overwritten. No file of the store is ever overwritten,
// nor one made that a store would take for its own.
func writeFile(path, store string, write func(io.Writer) error) (err error) {
	target := resolved(path)
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return failf(error(syscall.EISDIR), "write %s: it is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return writeDirectly(target, write)
	case isLink(path):
		return failf(sessiondb.ErrInvalid, "write %s: it is a symbolic link; name the file itself, or - for the standard output", path)
	case ofStore(target, info, resolved(store)):
		return fmt.Errorf("write %s: it is the store itself, or belongs to it; choose another name", path)
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp") // mode 0600
	if err != nil {
		return unwritten(path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(nameless{f, path}); err != nil {
		return err
	}
	for _, step := range []func() error{f.Sync, f.Close, func() error { return os.Rename(f.Name(), target) }} {
		if err := step(); err != nil {
			return unwritten(path, err)
		}
	}
	syncFolder(filepath.Dir(target))
	return nil
}

// nameless is a file of a name that only we know. Its errors name the one that it
// will have.
type nameless struct {
	f    *os.File
	path string
}

func (n nameless) Write(p []byte) (int, error) {
	written, err := n.f.Write(p)
	if err != nil {
		err = unwritten(n.path, err)
	}
	return written, err
}

func unwritten(path string, err error) error { return fmt.Errorf("write %s: %w", path, cause(err)) }

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// resolved is a path without symbolic links, also of a file that isn't there
// yet, as far as it can be told.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// ofStore says whether a path is a file of the store. info is nil for a file
// that isn't there.
func ofStore(path string, info fs.FileInfo, store string) bool {
	for _, suffix := range storeSuffixes {
		if path == store+suffix {
			return true
		}
		if its, err := os.Stat(store + suffix); err == nil && info != nil && os.SameFile(info, its) {
			return true
		}
	}
	return false
}

// cause is what the system said, without the name of a file that only we know.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// syncFolder makes a rename durable where folders can be synced.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil { // #nosec G304 -- the folder that the user named
		_ = d.Sync()
		_ = d.Close()
	}
}

func writeDirectly(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- the file that the user named
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
