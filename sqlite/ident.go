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
	path, real, wal string
	db, log         os.FileInfo
}

// identify remembers the database file at path. The log is remembered when it
// is first seen.
func identify(path, real string) (*identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &identity{path: path, real: real, wal: real + "-wal", db: info}, nil
}

// check says whether the database at its path is still the one that is open,
// and still under the name beside which its log lies: behind a link that came
// later, others would look for the log elsewhere.
func (id *identity) check() error {
	if id.path != id.real {
		if err := sameFile(os.Stat, id.path, id.db); err != nil {
			return err
		}
	}
	return sameFile(os.Lstat, id.real, id.db)
}

// checkAll is check for the database and its log.
func (id *identity) checkAll() error {
	if err := id.check(); err != nil || id.log == nil {
		return err
	}
	return sameFile(os.Stat, id.wal, id.log)
}

// sawLog remembers the log, which SQLite makes when it first reads.
func (id *identity) sawLog() {
	if id.log == nil {
		id.log, _ = os.Stat(id.wal)
	}
}

func sameFile(stat func(string) (os.FileInfo, error), path string, was os.FileInfo) error {
	is, err := stat(path)
	switch {
	case os.IsNotExist(err):
		return fmt.Errorf("%w: %s is gone", sessiondb.ErrReplaced, path)
	case err != nil:
		return err
	case !os.SameFile(is, was):
		return fmt.Errorf("%w: %s is another file now", sessiondb.ErrReplaced, path)
	}
	return nil
}
