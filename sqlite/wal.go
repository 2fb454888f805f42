package sqlite

import (
	"context"
	"fmt"

	lib "modernc.org/sqlite/lib"
)

// openWriter opens the write connection. Where the log that the file asks for
// can't be used, it is turned off first.
func (s *store) openWriter(ctx context.Context, a access) (err error) {
	s.w, err = openConn(ctx, s.path, a)
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
	err := s.w.queryRow(ctx, []any{&mode}, "PRAGMA journal_mode = WAL")
	if err == nil && mode != "wal" {
		s.warnNoWAL(nil)
		return nil
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
	if !s.noLog {
		s.warnNoWAL(cause)
	}
	s.noLog = true // trying again would be in the way of others
	s.w, err = openConn(ctx, s.path, a)
	return err
}

func (s *store) warnNoWAL(cause error) {
	s.log.Warn("the file system can't keep a write-ahead log: readers and writers will wait for each other",
		"path", s.path, "cause", fmt.Sprint(cause))
}

// haveWriter sees that there is a write connection: another program that
// switched the log on where it can't be used costs us ours.
func (s *store) haveWriter(ctx context.Context) error {
	if s.w != nil {
		return nil
	}
	return s.openWriter(ctx, access{mode: "rw", vfs: s.vfs, busy: s.busy})
}
