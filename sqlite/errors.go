package sqlite

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
)

// extendedCode is SQLite's result code of an error, 0 when it has none.
func extendedCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// Said reports whether an error is one that SQLite itself told of.
func Said(err error) bool { return extendedCode(err) != 0 }

// primaryCode is the result code without its extension.
func primaryCode(err error) int { return extendedCode(err) & 0xff }

// isBusy says that somebody else held a lock.
func isBusy(err error) bool {
	switch primaryCode(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return true
	}
	return false
}

// mapError gives an error of the driver the name that callers know, by result
// code. The driver's own stays within reach of errors.As.
func mapError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if extendedCode(err) == lib.SQLITE_IOERR_SHMSIZE {
		return named(sessiondb.ErrFull, err) // no room for the file of the locks
	}
	switch primaryCode(err) {
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL:
		return named(sessiondb.ErrIO, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return named(&sessiondb.BusyError{Attempts: 1, Waited: busyTimeout * time.Millisecond}, err)
	case lib.SQLITE_FULL:
		return named(sessiondb.ErrFull, err)
	case lib.SQLITE_CORRUPT:
		return named(sessiondb.ErrCorrupt, err)
	case lib.SQLITE_NOTADB:
		return named(sessiondb.ErrNotStore, err)
	case lib.SQLITE_READONLY:
		return named(sessiondb.ErrReadOnly, err)
	case lib.SQLITE_CONSTRAINT:
		if extendedCode(err) == lib.SQLITE_CONSTRAINT_FOREIGNKEY {
			return named(sessiondb.ErrReferenced, err)
		}
	case lib.SQLITE_INTERRUPT:
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// systemError gives an error of a system call of our own the name that callers
// know.
func systemError(err error) error {
	switch {
	case errors.Is(err, syscall.EIO):
		return named(sessiondb.ErrIO, err)
	case errors.Is(err, syscall.ENOSPC):
		return named(sessiondb.ErrFull, err)
	}
	return err
}

// noSharedMemory says that processes can't share the memory that a write-ahead
// log needs.
func noSharedMemory(err error) bool {
	switch extendedCode(err) {
	case lib.SQLITE_IOERR_SHMMAP, lib.SQLITE_IOERR_SHMOPEN, lib.SQLITE_IOERR_SHMLOCK, lib.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// locate adds the file to an error that is about it, which SQLite does not.
func (s *store) locate(err error) error {
	err = systemError(err)
	var what string
	switch primaryCode(err) {
	case lib.SQLITE_READONLY:
		what = ", or its -wal, its -shm or its directory, may not be written by this user"
	case lib.SQLITE_CANTOPEN:
		what = ", or its -wal or its -shm, can't be opened"
	case lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CORRUPT:
	default:
		return err
	}
	return fmt.Errorf("%w: %s%s", err, s.path, what)
}

func named(name, err error) error {
	if errors.Is(err, name) {
		return err
	}
	return fmt.Errorf("%w: %w", name, err)
}

// undoes says that SQLite may have rolled the whole transaction back by
// itself, so that nothing done before in it can be relied on. After an error of
// the disk a part of the log may be missing too (internal/walvfs).
func undoes(err error) bool {
	switch primaryCode(err) {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_BUSY,
		lib.SQLITE_INTERRUPT, lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN:
		return true
	}
	return false
}
