package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
)

// tidy takes away the empty log that a reader leaves: SQLite lets one make the
// log, but only who may write can delete it. While others have the file open
// it stays, as SQLite sees to.
func (s *store) tidy() {
	log := s.real + "-wal"
	if !s.madeLog || !exists(log) || fileHolds(log) {
		return
	}
	c, err := openConn(context.Background(), s.path, access{mode: "rw", vfs: s.vfs, busy: 1})
	if err != nil {
		return
	}
	_, _ = readShape(context.Background(), c) // SQLite opens the log when it first reads
	_ = c.close()
}

// writable says that this user may write the file and what lies beside it: what
// can't be opened then has another reason.
func (s *store) writable() bool {
	if !canAsk || mayUse(filepath.Dir(s.real), 3) != nil {
		return false
	}
	for _, suffix := range ofSQLite {
		if e := mayUse(s.real+suffix, 6); e != nil && !os.IsNotExist(e) {
			return false
		}
	}
	return true
}

// explain says why a file can't be opened, where SQLite only says that it
// can't. It asks for permissions and opens nothing.
func (s *store) explain(err error) error {
	err = systemError(err)
	if primaryCode(err) != lib.SQLITE_CANTOPEN {
		return err
	}
	if !exists(s.real) {
		if e := mayUse(filepath.Dir(s.real), 3); e != nil {
			return because(filepath.Dir(s.real), e)
		}
		return err
	}
	for _, suffix := range ofSQLite {
		need := uint32(6) // what is beside the file is shared with writers
		if suffix == "" {
			need = 4
		}
		if e := mayUse(s.real+suffix, need); e != nil && !os.IsNotExist(e) {
			if s.real+suffix == s.path { // which every error names
				return because("", e)
			}
			return because(s.real+suffix, e)
		}
		if info, e := os.Lstat(s.real + suffix); e == nil && suffix != "" && !info.Mode().IsRegular() {
			return fmt.Errorf("%w: %s%s is not a regular file", err, s.path, suffix)
		}
	}
	return err
}

func because(path string, err error) error {
	if path != "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", sessiondb.ErrReadOnly, err)
	}
	return err
}
