package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// RestoreOptions shape Restore. The zero value works.
type RestoreOptions struct {
	// DryRun looks at everything and changes nothing.
	DryRun bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Progress is called with what is being done and how far it is; nil is
	// fine.
	Progress func(what string, done, total int64)
}

// RestoreReport tells what Restore did, or would do.
type RestoreReport struct {
	Bytes         int64 `json:"bytes"`
	SchemaVersion int   `json:"schema_version"`
	Sessions      int64 `json:"sessions"`
	Messages      int64 `json:"messages"`
	// IndexDamaged says that an index in the backup is damaged. It can be
	// rebuilt from the messages.
	IndexDamaged bool `json:"index_damaged"`
	// Kept is the file that holds what was there before, empty when nothing
	// was. With a DryRun it is empty.
	Kept string `json:"kept,omitempty"`
	// KeptDamaged says that this is damaged.
	KeptDamaged bool `json:"kept_damaged"`
}

// Restore makes the store at path what the file from holds: a backup, or any
// other store. from is read through first; it is ErrCorrupt or ErrNotStore when
// it is not whole. What is at path is kept in a file beside it.
//
// While any program has the store open it is a [sessiondb.InUseError], and
// nothing was changed. The store is written in one transaction of SQLite's, so
// that whenever it ends, and be it killed, path holds what was there before or
// what was restored. Only where SQLite can't open what is there, the file is
// replaced, after it was set aside with its log. A file of another program is
// ErrNotStore and stays. An error about what is at path, or may not be written
// there, is a [*TargetError].
func Restore(ctx context.Context, path, from string, o RestoreOptions) (r RestoreReport, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s: %w", path, err)
		}
	}()
	src, err := openStore(ctx, from, Options{ReadOnly: true, Progress: o.Progress}, settings{})
	if err != nil {
		return r, err
	}
	defer func() { _ = src.Close() }()
	t, err := restoreTarget(path, src, o)
	if err != nil {
		return r, &TargetError{err}
	}
	if err := t.unused(); err != nil {
		return r, err
	}
	if o.DryRun {
		b, err := src.Verify(ctx)
		t.report(b)
		return t.r, err
	}
	st, err := newStage(filepath.Dir(t.real))
	if err != nil {
		return r, err
	}
	defer st.remove()
	b, err := src.stageCopy(ctx, st)
	switch {
	case errors.Is(err, sessiondb.ErrFull):
		return r, &TargetError{err}
	case err != nil:
		return r, fmt.Errorf("%s: %w", from, err)
	}
	t.report(b)
	if err := t.put(ctx, st); err != nil {
		return t.r, &TargetError{err}
	}
	return t.r, nil
}

// TargetError is an error about what Restore was to replace, not about what it
// read.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return e.Err.Error() }
func (e *TargetError) Unwrap() error { return e.Err }

// target is a store that is being restored.
type target struct {
	real     string
	now      time.Time
	progress func(what string) func(done, total int64)
	r        RestoreReport
}

func restoreTarget(path string, src *store, o RestoreOptions) (*target, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := refuseLink(path); err != nil {
		return nil, err
	}
	t := &target{real: path, now: time.Now(), progress: src.report}
	if o.Now != nil {
		t.now = o.Now()
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return t, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is not a regular file", sessiondb.ErrNotStore)
	}
	if of, err := os.Stat(src.real); err == nil && os.SameFile(of, info) {
		return nil, fmt.Errorf("%w: a store can't be restored from itself", sessiondb.ErrInvalid)
	}
	if err := mayUse(path, 4|2); err != nil {
		return nil, named(sessiondb.ErrReadOnly, err)
	}
	if t.real, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	return t, refuseOthersLog(t.real)
}

func (t *target) report(b engine.Backup) {
	t.r.Bytes, t.r.SchemaVersion, t.r.Sessions, t.r.Messages = b.Bytes, b.SchemaVersion, b.Sessions, b.Messages
	t.r.IndexDamaged = len(b.Findings) > 0
}

// unused fails when the system tells that somebody has the store open.
func (t *target) unused() error {
	found, _ := holders(t.real)
	if len(found) == 0 {
		return nil
	}
	e := &sessiondb.InUseError{Path: t.real}
	for _, h := range found {
		e.Users = append(e.Users, h.process())
	}
	return e
}

// put makes the store what the stage holds.
func (t *target) put(ctx context.Context, st *stage) error {
	if !exists(t.real) || !fileHolds(t.real) && fileHolds(t.real+"-wal") {
		return t.replace(ctx, st)
	}
	c, err := t.lockWhole(ctx)
	switch {
	case isBusy(err):
		if e := t.unused(); e != nil {
			return e
		}
		return &sessiondb.InUseError{Path: t.real}
	case primaryCode(err) == lib.SQLITE_NOTADB || primaryCode(err) == lib.SQLITE_CORRUPT:
		t.r.KeptDamaged = true
		return t.replace(ctx, st)
	case err != nil:
		return err
	}
	err = t.overwrite(ctx, c, st)
	if e := c.close(); err == nil {
		err = e
	}
	return err
}

// lockWhole opens the store and takes the lock that nobody else may share, not
// even an idle connection, until the connection is closed. A log is moved to
// the database and goes: it must not meet what will be there.
func (t *target) lockWhole(ctx context.Context) (*conn, error) {
	there := &store{path: t.real, real: t.real}
	c, err := openConn(ctx, t.real, access{mode: "rw", pragmas: []string{"locking_mode(EXCLUSIVE)"}})
	if err != nil {
		return nil, there.explain(err)
	}
	for range 2 { // before, and after the log went
		var mode string
		err := firstError(c.script(ctx, "BEGIN EXCLUSIVE; COMMIT"), c.queryRow(ctx, []any{&mode}, "PRAGMA journal_mode = DELETE"))
		if err == nil && mode != "delete" {
			err = fmt.Errorf("the journal mode stays %s", mode)
		}
		if err != nil {
			_ = c.close()
			return nil, there.explain(err)
		}
	}
	return c, nil
}

// overwrite keeps what is there and copies the staged database over it.
func (t *target) overwrite(ctx context.Context, c *conn, st *stage) error {
	sh, err := readShape(ctx, c)
	if err == nil && !sh.ours() {
		return fmt.Errorf("%w: it holds the tables of another program", sessiondb.ErrNotStore)
	}
	if err != nil && !errors.Is(err, sessiondb.ErrCorrupt) {
		return err
	}
	if err != nil || !sh.blank() {
		if err := t.keep(ctx, c); err != nil {
			return err
		}
	}
	begun, err := restorePages(ctx, c, st.copy(), t.progress("restoring pages"))
	switch {
	case err == nil || t.r.Kept == "":
		return err
	case begun: // what failed may have come after what counts
		return fmt.Errorf("%w; what was there before is also in %s", err, t.r.Kept)
	}
	_ = os.Remove(t.r.Kept) // it is where it was
	t.r.Kept = ""
	return err
}

// restorePages copies a file that does not change over the database of c, in
// one transaction. It tells whether its commit was begun, so that an error leaves
// open whether it was done.
func restorePages(ctx context.Context, c *conn, from string, report func(done, total int64)) (begun bool, err error) {
	b, err := c.raw.(interface {
		NewRestore(string) (*driver.Backup, error)
	}).NewRestore(dsn(from, access{mode: "ro", immutable: true}))
	if err != nil {
		return false, mapError(ctx, err)
	}
	defer func() {
		if e := b.Finish(); err == nil {
			err = mapError(ctx, e)
		}
	}()
	err = copySteps(ctx, b, report, func() error { return nil })
	return b.PageCount() > 0 && b.Remaining() == 0, err
}
