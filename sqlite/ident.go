package sqlite

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// identity remembers which files are open, by path, so that a write into a
// file that nobody can find any more is not taken for done, nor what stands there
// for what is stored. It never opens them: closing a file drops the locks that
// SQLite holds on it.
type identity struct {
	path, real string
	db         os.FileInfo
	beside     atomic.Pointer[logInfo]

	since  time.Time
	looked atomic.Int64 // when all were last found in place, in nanoseconds since then
}

// logInfo is what was seen of the files of a log, nil where there is none.
type logInfo [len(logFiles)]os.FileInfo

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
	id := &identity{path: path, real: real, db: info, since: time.Now()}
	id.noLog()
	return id, nil
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
	for i, was := range id.beside.Load() {
		if was == nil {
			continue
		}
		if err := sameFile(lookThrough, id.real+logFiles[i], was); err != nil {
			return err
		}
	}
	return nil
}

// lookHolds is how long a look at the files is good for reads. A look each would
// make the shortest of them slower by a half.
const lookHolds = 10 * time.Millisecond

// checkLately is checkAll for reads, which share a look. Nil is a file that who
// reads it looks after.
func (id *identity) checkLately() error {
	if id == nil {
		return nil
	}
	now := int64(time.Since(id.since))
	if last := id.looked.Load(); last > 0 && now-last < int64(lookHolds) {
		return nil
	}
	err := id.checkAll()
	if err == nil {
		id.looked.Store(now)
	}
	return err
}

// sawLog remembers the log, which SQLite makes when it first reads.
func (id *identity) sawLog() {
	saw := *id.beside.Load()
	for i, suffix := range logFiles {
		if saw[i] == nil {
			saw[i], _ = os.Stat(id.real + suffix)
		}
	}
	id.beside.Store(&saw)
}

// othersLog says that others have a log of their own for the file that is open.
func (id *identity) othersLog() bool {
	for i, was := range id.beside.Load() {
		is, err := os.Stat(id.real + logFiles[i])
		if err == nil && was != nil && !os.SameFile(is, was) && is.Size() > 0 {
			return true
		}
	}
	return false
}

// noLog forgets the log, which was turned off.
func (id *identity) noLog() { id.beside.Store(new(logInfo)) }

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
