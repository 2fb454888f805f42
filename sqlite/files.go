package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessiondb-go/sessiondb"
)

// ofSQLite are the endings of the files that SQLite makes of a database.
var ofSQLite = []string{"", "-wal", "-shm", "-journal"}

// sidecars are those of the files beside a database, with the one of the queue.
var sidecars = append(slices.Clone(ofSQLite[1:]), queueSuffix)

// makeDir makes a directory, and those above it, for the user alone whatever
// the umask. A directory that exists is left as it is.
func makeDir(dir string) error {
	if exists(dir) {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if os.IsExist(err) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory has to be entered
}

// ownFile makes or opens a file of ours beside the store, for the user alone
// whatever the umask. It follows no symbolic link: whoever may write to the
// directory does not choose where we write.
func ownFile(path string) (_ *os.File, made bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600) // #nosec G304 -- beside the store that the caller named
	if os.IsExist(err) {
		f, err = os.OpenFile(path, os.O_RDWR|noFollow, 0) // #nosec G304 -- the same
	} else {
		made = err == nil
	}
	if err != nil {
		return nil, false, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, false, fmt.Errorf("%s is no regular file", path)
	}
	return f, made, nil
}

// refuseLink keeps a new store from being made where a dangling symbolic link
// points.
func refuseLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 && !exists(path) {
		return fmt.Errorf("%w: %s is a symbolic link to a file that does not exist", sessiondb.ErrInvalid, path)
	}
	return nil
}

// private lets a new database be made for the user alone from its first moment,
// whatever the umask: SQLite copies the mode of a file that has it. done ends
// the need for that file.
func (s *store) private(a *access) (done func(), err error) {
	if s.queue.isNew {
		a.modeOf = s.queue.file.Name()
		return func() {}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*.tmp") // mode 0600
	if err != nil {
		if e := mayUse(filepath.Dir(s.path), 3); e != nil {
			err = because(filepath.Dir(s.path), e)
		}
		return nil, err
	}
	_ = f.Close()
	a.modeOf = f.Name()
	return func() { _ = os.Remove(f.Name()) }, nil
}

// unprotect lets the owner of a store write what lies beside it. While a store is
// write-protected, readers make its log as protected as it is, and leave it.
func unprotect(real string) {
	if mayUse(real, 2) != nil {
		return
	}
	for _, suffix := range sidecars {
		info, err := os.Lstat(real + suffix)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
			_ = os.Chmod(real+suffix, info.Mode().Perm()|0o200)
		}
	}
}

// tighten takes a store away from strangers: a file that anyone may read is an
// accident of a umask. One that a group may read is a decision, and a
// symbolic link is somebody else's file.
func tighten(path, real string) {
	if path != real {
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
			return
		}
	}
	for _, suffix := range append([]string{""}, sidecars...) {
		info, err := os.Lstat(real + suffix)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
			_ = os.Chmod(real+suffix, 0o600)
		}
	}
}

// unmake leaves nothing of a store that could not be made: not its empty file,
// unless another program opened it meanwhile, nor the one of the queue.
func (s *store) unmake(isNew bool) {
	if users, known := holders(s.real); isNew && known && len(users) == 0 && s.isEmpty() {
		for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
			_ = os.Remove(s.real + suffix)
		}
	}
	if s.queue != nil && !exists(s.path) {
		s.queue.discard()
	}
}

// isEmpty says that there is a file without any table, which has a page of its
// own, and nothing beside it.
func (s *store) isEmpty() bool {
	const page = 4096 // as SQLite makes them, unless asked
	info, err := os.Lstat(s.path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= page && !s.unsettled()
}
