package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// stage is a folder, for the user alone, in which a file is made before it gets
// its name beside the folder. A lock on a file in it tells others that we are
// alive.
type stage struct {
	dir  string
	lock *os.File
	// file is the copy. It is closed after SQLite is done with it: closing any
	// handle of a database drops the locks on it.
	file *os.File
}

// stagePrefix begins the names of such folders.
const stagePrefix = ".sessiondb-partial-"

const (
	stageCopy = "copy.db"
	stageLock = "lock"
)

// stageAge is how old a stage is at least when it is taken for one that was
// left behind. Where locks can't tell who lives, it has to be older.
const (
	stageAge         = time.Minute
	stageAgeUnlocked = 48 * time.Hour
)

// newStage makes a stage with an empty file for a copy. It removes those that
// runs left behind which were killed.
func newStage(parent string) (_ *stage, err error) {
	sweepStages(parent)
	dir, err := os.MkdirTemp(parent, stagePrefix) // mode 0700
	if err != nil {
		return nil, noRoomIn(parent, err)
	}
	st := &stage{dir: dir}
	defer func() {
		if err != nil {
			st.remove()
		}
	}()
	if st.lock, err = os.OpenFile(filepath.Join(dir, stageLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil { // #nosec G304 -- in a folder that we made
		return nil, err
	}
	_ = lockRange(st.lock, 0, false)
	st.file, err = os.OpenFile(st.copy(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return st, err
}

// noRoomIn says that nothing can be made in a folder, by its name and not by
// that of what was to be made.
func noRoomIn(folder string, err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return systemError(fmt.Errorf("no file can be made in %s: %w", folder, err))
}

// explain names the folder that has no room for the stage.
func (st *stage) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = systemError(syscall.ENOSPC) // without the name that only we know
	}
	if errors.Is(err, sessiondb.ErrFull) {
		return fmt.Errorf("%w: %s", err, filepath.Dir(st.dir))
	}
	return err
}

// copy is the path of the file that is made.
func (st *stage) copy() string { return filepath.Join(st.dir, stageCopy) }

// publish gives the file its name, which nothing may have. It is there after a
// power cut.
func (st *stage) publish(path string) error {
	if err := st.file.Close(); err != nil { // first, where an open file can't be renamed
		return err
	}
	if err := moveNew(st.copy(), path); err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s: %w", path, os.ErrExist)
		}
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		_ = os.Remove(path)
		return err
	}
	return nil
}

// remove removes the stage, and the file unless it was published.
func (st *stage) remove() {
	if st.file != nil {
		_ = st.file.Close()
	}
	emptyStage(st.dir)
	if st.lock != nil {
		_ = st.lock.Close()
	}
}

// emptyStage removes a stage and what one can hold, and nothing else.
func emptyStage(dir string) {
	for _, name := range ofSQLite {
		_ = os.Remove(filepath.Join(dir, stageCopy+name))
	}
	_ = os.Remove(filepath.Join(dir, stageLock))
	_ = os.Remove(dir)
}

// SweepPartial removes what backups, restores and recoveries that were killed
// left beside the store at path, and returns what it removed. So does each of
// them before it begins. What is younger than a minute, or in use, stays.
func SweepPartial(path string) (removed []string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return sweepStages(filepath.Dir(path))
}

// sweepStages removes what killed runs left in a folder.
func sweepStages(parent string) (removed []string) {
	for _, dir := range leftStages(parent) {
		emptyStage(dir)
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			removed = append(removed, dir)
		}
	}
	return removed
}

// leftStages lists the stages in a folder that nobody works in any more.
func leftStages(parent string) (out []string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if strings.HasPrefix(e.Name(), stagePrefix) && e.IsDir() && abandoned(dir) {
			out = append(out, dir)
		}
	}
	return out
}

// abandoned says that nobody works in a stage any more.
func abandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || time.Since(info.ModTime()) < stageAge {
		return false
	}
	if !canQueue {
		return time.Since(info.ModTime()) > stageAgeUnlocked
	}
	f, err := os.OpenFile(filepath.Join(dir, stageLock), os.O_RDWR, 0) // #nosec G304 -- beside the file that the caller named
	if errors.Is(err, os.ErrNotExist) {
		return true // killed before it began
	}
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return lockRange(f, 0, false) == nil
}

// moveSlowly is moveNew for file systems that can't do it in one step: it takes
// the name first.
func moveSlowly(from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the file that the caller named
	if err != nil {
		return err
	}
	_ = f.Close()
	if err := os.Rename(from, to); err != nil {
		_ = os.Remove(to)
		return err
	}
	return nil
}

// linkNew is moveNew by a hard link.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, os.ErrExist):
		return err
	}
	return moveSlowly(from, to)
}

// syncDir makes the names in a folder durable, where folders can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir) // #nosec G304 -- the same
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); errors.Is(err, syscall.EIO) {
		return err
	}
	return nil
}

// syncFile makes a file durable. It opens it: nobody may have it open through
// SQLite in this process.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- a file that we made
	if err != nil {
		return err
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
