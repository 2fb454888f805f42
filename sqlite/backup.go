package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// copyStep is how many pages are copied between two looks at the context.
const copyStep = 1024

// syncSteps is how many steps are copied before the copy is seen to the disk.
// A single sync at the end would make the commits of others wait for all of it.
const syncSteps = 4

// Backup implements [engine.Engine]. It copies page by page what one read
// transaction sees. So the copy has everything that the file has, as it is (row
// ids, tables we don't know, an index that is damaged); a write that comes in
// between does not make it begin again, and with a write-ahead log nobody waits
// for it.
func (s *store) Backup(ctx context.Context, dst string) (b engine.Backup, err error) {
	if dst, err = s.target(dst); err != nil {
		return b, err
	}
	st, err := newStage(filepath.Dir(dst))
	if err != nil {
		return b, err
	}
	defer st.remove()
	if b, err = s.stageCopy(ctx, st); err != nil {
		return b, err
	}
	return b, st.publish(dst)
}

// Verify implements [engine.Engine].
func (s *store) Verify(ctx context.Context) (b engine.Backup, err error) {
	err = s.Read(ctx, func(q engine.Queryer) (err error) {
		b, err = inspect(ctx, q.(*readTx).c, s.shape, s.report("verifying"), s.olderIndex(ctx))
		return err
	})
	return b, err
}

// stageCopy copies the database to a stage, and looks whether the copy is
// whole.
func (s *store) stageCopy(ctx context.Context, st *stage) (b engine.Backup, err error) {
	if err := s.copyTo(ctx, st); err != nil {
		return b, st.explain(err)
	}
	b, err = settle(ctx, st, s.report("verifying"))
	return b, st.explain(err)
}

// target is the absolute path of a backup, if one may be made there.
func (s *store) target(dst string) (string, error) {
	if dst == "" || strings.ContainsRune(dst, 0) {
		return "", fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	}
	dst, err := filepath.Abs(dst)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(dst))
	if err != nil {
		return "", err
	}
	dst = filepath.Join(dir, filepath.Base(dst))
	for _, suffix := range sidecars {
		if dst == s.real+suffix {
			return "", fmt.Errorf("%w: %s belongs to the store", sessiondb.ErrInvalid, dst)
		}
	}
	return dst, vacant(dst)
}

// vacant says whether a database may come to be at a path: nothing is there,
// it is no file that belongs to another database, and no log lies there that
// would be applied to it.
func vacant(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, suffix := range sidecars {
		if main, ok := strings.CutSuffix(path, suffix); ok && exists(main) {
			return fmt.Errorf("%w: %s would be taken for a part of the database %s", sessiondb.ErrInvalid, path, main)
		}
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if exists(path + suffix) {
			return fmt.Errorf("%w: %s%s is there, and would be applied to the new file", sessiondb.ErrInvalid, path, suffix)
		}
	}
	return nil
}

// copyTo copies the database to a stage, from one snapshot.
func (s *store) copyTo(ctx context.Context, to *stage) error {
	if s.ident != nil {
		if err := s.ident.check(); err != nil {
			return err
		}
	}
	var failed error // on the side of the copy: not about this file
	err := s.Read(ctx, func(q engine.Queryer) error {
		c := q.(*readTx).c
		if err := c.queryRow(ctx, []any{new(int64)}, "SELECT COUNT(*) FROM main.sqlite_schema"); err != nil {
			return err // the first read makes the snapshot
		}
		failed = copyPages(ctx, c, to, s.report("copying pages"))
		return nil
	})
	return firstError(err, failed)
}

// report tells how far work is, to whom it may concern.
func (s *store) report(what string) func(done, total int64) {
	return func(done, total int64) {
		if s.progress != nil {
			s.progress(what, done, total)
		}
	}
}

// copyPages copies a database to a stage. It writes without a journal: of a copy
// that fails nothing is kept.
func copyPages(ctx context.Context, c *conn, to *stage, report func(done, total int64)) (err error) {
	uri := dsn(to.copy(), access{mode: "rw", pragmas: []string{"journal_mode(OFF)", "synchronous(OFF)"}})
	b, err := c.raw.(interface {
		NewBackup(string) (*driver.Backup, error)
	}).NewBackup(uri)
	if err != nil {
		return mapError(ctx, err)
	}
	defer func() {
		if e := b.Finish(); err == nil {
			err = mapError(ctx, e)
		}
	}()
	steps := 0
	return copySteps(ctx, b, report, func() error {
		if steps++; steps%syncSteps != 0 {
			return nil
		}
		return to.file.Sync()
	})
}

// copySteps copies until everything is. It calls after when a step is done.
func copySteps(ctx context.Context, b *driver.Backup, report func(done, total int64), after func() error) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = b.Step(copyStep); err != nil {
			return mapError(ctx, err)
		}
		report(int64(b.PageCount()-b.Remaining()), int64(b.PageCount()))
		if err := after(); err != nil {
			return err
		}
	}
	return nil
}

// settle makes a copy a file that needs no other beside it, looks whether it is
// whole, and sees it to the disk.
func settle(ctx context.Context, st *stage, report func(done, total int64)) (b engine.Backup, err error) {
	c, err := openConn(ctx, st.copy(), access{mode: "rw"})
	if err != nil {
		return b, err
	}
	err = c.queryRow(ctx, []any{new(string)}, "PRAGMA journal_mode = DELETE")
	if e := c.close(); err == nil {
		err = e
	}
	if err != nil {
		return b, err
	}
	if b, err = inspectFile(ctx, st.copy(), access{mode: "ro", immutable: true}, report); err != nil {
		return b, err
	}
	return b, st.file.Sync()
}
