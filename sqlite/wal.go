package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb/internal/walvfs"
)

// openWriter opens the write connection. Where the log that the file asks for
// can't be used, it is turned off first.
func (s *store) openWriter(ctx context.Context, a access) (err error) {
	writes := a
	if a.vfs == "" {
		writes.vfs = walvfs.Name()
	}
	s.w, err = openConn(ctx, s.path, writes)
	if noSharedMemory(err) {
		return s.leaveWAL(ctx, a, err)
	}
	return err
}

// enableWAL switches the write-ahead log on where it is not. Where the file
// system can't do it, the store works without. So it does, for now, where
// others use a store that has no log: nobody waits for them to open it.
func (s *store) enableWAL(ctx context.Context, a access, isNew bool) error {
	var mode string
	if err := s.w.queryRow(ctx, []any{&mode}, "PRAGMA journal_mode"); err != nil {
		return err
	}
	if mode == "wal" || s.noLog {
		return nil
	}
	if !isNew {
		if err := s.tryLog(ctx, a); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return s.withoutLog(err)
		}
	}
	err := s.w.queryRow(ctx, []any{&mode}, "PRAGMA journal_mode = WAL")
	if err == nil && mode != "wal" {
		return s.withoutLog(nil)
	}
	if err == nil {
		_, err = s.readCookie() // the first to need the shared memory
	}
	switch {
	case err == nil, isBusy(err) && !isNew:
		return nil
	case noSharedMemory(err), primaryCode(err) == lib.SQLITE_IOERR, primaryCode(err) == lib.SQLITE_CANTOPEN:
		a.mode = "rw"
		return s.leaveWAL(ctx, a, err)
	}
	return err
}

// leaveWAL moves the log to the database, turns it off, and opens the write
// connection anew. It does so alone with the file, or fails as busy: where
// others use the log, it stays.
func (s *store) leaveWAL(ctx context.Context, a access, cause error) error {
	s.dropWriter()
	alone := a
	alone.exclusive = true
	c, err := openConn(ctx, s.path, alone)
	if err != nil {
		return err
	}
	err = c.queryRow(ctx, []any{new(string)}, "PRAGMA journal_mode = DELETE")
	if e := c.close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if s.ident != nil {
		s.ident.noLog()
	}
	if err := s.withoutLog(cause); err != nil {
		return err
	}
	s.w, err = openConn(ctx, s.path, a)
	return err
}

// withoutLog has the store go on as it is, which is not tried again.
func (s *store) withoutLog(cause error) error {
	if !s.noLog {
		s.log.Warn("the file system can't keep a write-ahead log: readers and writers will wait for each other",
			"path", s.path, "cause", fmt.Sprint(cause))
	}
	s.noLog = true
	return nil
}

// trialSuffix names the database on which a log is tried.
const trialSuffix = "-logtrial"

// tryLog says why no log works where the store lies. It tries on a database
// beside it: a log that is switched on and, because it can't be used, off again
// fails whoever else uses the store meanwhile.
func (s *store) tryLog(ctx context.Context, a access) (err error) {
	release, err := s.queue.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	path := s.real + trialSuffix
	clean := func() (err error) {
		for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
			if e := os.Remove(path + suffix); !errors.Is(e, fs.ErrNotExist) {
				err = firstError(err, e)
			}
		}
		return err
	}
	if err := clean(); err != nil { // of one who was killed
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- beside the store
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, clean()) }()
	if err := f.Close(); err != nil {
		return err
	}
	c, err := openConn(ctx, path, access{mode: "rw", vfs: a.vfs})
	if err != nil {
		return err
	}
	var mode string
	err = c.queryRow(ctx, []any{&mode}, "PRAGMA journal_mode = WAL")
	err = firstError(err, c.script(ctx, "CREATE TABLE t (x)"), c.close())
	if err == nil && mode != "wal" {
		err = errors.New("SQLite stays in journal mode " + mode)
	}
	return err
}

// haveWriter sees that there is a write connection: another program that
// switched the log on where it can't be used costs us ours.
func (s *store) haveWriter(ctx context.Context) error {
	if s.w != nil {
		return nil
	}
	return s.openWriter(ctx, access{mode: "rw", vfs: s.vfs, busy: s.busy})
}
