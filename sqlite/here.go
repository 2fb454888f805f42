package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Closing any descriptor of a database drops the locks that SQLite holds on it
// for this process. So a file is read past SQLite only while this process has
// not opened it through SQLite, and the other way round.
var here struct {
	sync.RWMutex
	stores map[*store]bool
}

// errOpenHere says that this process has a file open.
var errOpenHere = errors.New("this program has it open")

// enterHere notes a store before it opens its files.
func (s *store) enterHere() {
	here.Lock()
	defer here.Unlock()
	if here.stores == nil {
		here.stores = map[*store]bool{}
	}
	here.stores[s] = true
}

// leaveHere forgets a store that closed its files.
func (s *store) leaveHere() {
	here.Lock()
	defer here.Unlock()
	delete(here.stores, s)
}

// unlessOpenHere runs fn, which reads the files of a store past SQLite, while no
// store of this process has them open or can open them.
func unlessOpenHere(real string, fn func() error) error {
	here.RLock()
	defer here.RUnlock()
	info, err := os.Stat(real)
	if err == nil && isOpenHere(info) {
		return errOpenHere
	}
	return fn()
}

// openHere says whether this process has a file open through SQLite.
func openHere(info fs.FileInfo) bool {
	here.RLock()
	defer here.RUnlock()
	return isOpenHere(info)
}

func isOpenHere(info fs.FileInfo) bool {
	for s := range here.stores {
		if other, err := os.Stat(s.real); err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

// copyFiles copies a database with its log and its journal.
func copyFiles(ctx context.Context, from, to string) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if suffix != "" && !fileHolds(from+suffix) {
			continue
		}
		if err := copyFile(ctx, from+suffix, to+suffix); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file into a new one for this user alone, and makes it
// durable.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from) // #nosec G304 -- a file of the store that the caller named
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- in a folder of our own
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	const chunk = 64 << 20 // between two looks at the context
	for {
		n, err := io.CopyN(out, in, chunk)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return out.Sync()
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
}

// CopyFiles copies a store that only an open for writing can make whole, as it
// is, with its log and its journal: to is the new database file, which must not
// exist, and what belongs to it lies beside it. Nobody may have the store open.
func CopyFiles(ctx context.Context, path, to string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", path, err)
	}
	if users, _ := holders(real); len(users) > 0 {
		return fmt.Errorf("copy %s: %s has it open", path, users[0])
	}
	if err := unlessOpenHere(real, func() error { return copyFiles(ctx, real, to) }); err != nil {
		return fmt.Errorf("copy %s: %w", path, err)
	}
	return nil
}
