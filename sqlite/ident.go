package sqlite

import (
	"fmt"
	"os"

	"github.com/sessiondb-go/sessiondb"
)

// identity remembers which files are open, by path, so that a write into a
// file that nobody can find any more is not taken for done. It never opens
// them: closing a file drops the locks that SQLite holds on it.
type identity struct {
	path, real string
	db         os.FileInfo
	beside     [len(logFiles)]os.FileInfo // nil where there is none
}

// logFiles are a log and the memory in which processes share what is in it. Who
// has lost either overwrites in the log what others wrote.
var logFiles = [...]string{"-wal", "-shm"}

// identify remembers the database file at path. Those of the log are remembered
// when they are first seen.
func identify(path, real string) (*identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &identity{path: path, real: real, db: info}, nil
}

// InPlace implements [engine.Placed].
func (s *store) InPlace() error {
	if s.ident == nil {
		return nil
	}
	return s.ident.check()
}

// check says whether the database at its path is still the one that is open,
// and still under the name beside which its log lies: behind a link that came
// later, others would look for the log elsewhere.
func (id *identity) check() error {
	if id.path != id.real {
		if err := sameFile(lookThrough, id.path, id.db); err != nil {
			return err
		}
	}
	return sameFile(lookAt, id.real, id.db)
}

// checkAll is check for the database and its log.
func (id *identity) checkAll() error {
	if err := id.check(); err != nil {
		return err
	}
	for i, suffix := range logFiles {
		if id.beside[i] == nil {
			continue
		}
		if err := sameFile(lookThrough, id.real+suffix, id.beside[i]); err != nil {
			return err
		}
	}
	return nil
}

// sawLog remembers the log, which SQLite makes when it first reads.
func (id *identity) sawLog() {
	for i, suffix := range logFiles {
		if id.beside[i] == nil {
			id.beside[i], _ = os.Stat(id.real + suffix)
		}
	}
}

// othersLog says that others have a log of their own for the file that is open.
func (id *identity) othersLog() bool {
	for i, suffix := range logFiles {
		is, err := os.Stat(id.real + suffix)
		if err == nil && id.beside[i] != nil && !os.SameFile(is, id.beside[i]) && is.Size() > 0 {
			return true
		}
	}
	return false
}

// noLog forgets the log, which was turned off.
func (id *identity) noLog() { clear(id.beside[:]) }

func sameFile(at seenAgain, path string, was os.FileInfo) error {
	same, err := at(path, was)
	switch {
	case os.IsNotExist(err):
		return fmt.Errorf("%w: %s is gone", sessiondb.ErrReplaced, path)
	case err != nil:
		return err
	case !same:
		return fmt.Errorf("%w: %s is another file now", sessiondb.ErrReplaced, path)
	}
	return nil
}

// seenAgain says whether a path names a file that was seen before.
type seenAgain func(path string, was os.FileInfo) (bool, error)

func lookBy(stat func(string) (os.FileInfo, error)) seenAgain {
	return func(path string, was os.FileInfo) (bool, error) {
		is, err := stat(path)
		return err == nil && os.SameFile(is, was), err
	}
}
