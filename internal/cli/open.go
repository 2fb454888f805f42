package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

const storeName = "state.db"

// storePath is where the store is: --db, $HERMES_HOME, or the usual folder.
func (a *app) storePath() (string, error) {
	if onServer(a.store) {
		return address(a.store)
	}
	if a.store != "" {
		return a.store, nil
	}
	if home := a.env("HERMES_HOME"); home != "" {
		return filepath.Join(home, storeName), nil
	}
	if local := a.env("LOCALAPPDATA"); runtime.GOOS == "windows" && local != "" {
		return filepath.Join(local, "hermes", storeName), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", failf(errNoStore, "there is no home folder to look for a store in: %v", err)
	}
	return filepath.Join(home, ".hermes", storeName), nil
}

// existing returns the path of a store that is there.
func (a *app) existing() (string, error) {
	path, err := a.storePath()
	if err != nil {
		return "", err
	}
	if onServer(path) {
		return path, nil
	}
	info, err := os.Stat(path)
	link, _ := os.Readlink(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && link != "":
		return "", failf(err, "%s is a link to %s, which does not exist", path, link)
	case errors.Is(err, fs.ErrNotExist):
		return "", failf(errNoStore, "there is no store at %s", path)
	case err != nil:
		return "", failf(errors.Join(err, fs.ErrNotExist), "can't look for a store at %s: %v", path, cause(err))
	case info.IsDir():
		return "", failf(sessiondb.ErrNotStore, "%s is a folder, not a session store", path)
	}
	return path, nil
}

// read runs fn on the store, which it can't change.
func (a *app) read(ctx context.Context, fn func(*sessiondb.DB) error) error {
	path, err := a.existing()
	if err != nil {
		return err
	}
	return a.with(ctx, path, true, fn)
}

// write runs fn on the store, which has to be there. If the store is migrated
// for it, that is said.
func (a *app) write(ctx context.Context, fn func(*sessiondb.DB) error) error {
	path, err := a.existing()
	if err != nil {
		return err
	}
	return a.migrating(ctx, path, fn)
}

// create is write that makes the store if there is none.
func (a *app) create(ctx context.Context, fn func(*sessiondb.DB) error) error {
	path, err := a.existing()
	switch {
	case err == nil && onServer(path):
		return a.with(ctx, path, false, fn)
	case err == nil:
		return a.migrating(ctx, path, fn)
	}
	if !errors.Is(err, errNoStore) {
		return err
	}
	if path, err = a.storePath(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return a.with(ctx, path, false, fn)
}

func (a *app) migrating(ctx context.Context, path string, fn func(*sessiondb.DB) error) error {
	var before int
	err := a.with(ctx, path, true, func(db *sessiondb.DB) error {
		before = db.Info().SchemaVersion
		return nil
	})
	if err != nil && !errors.Is(err, sessiondb.ErrReadOnly) { // what only a writer can open, a writer opens
		return err
	}
	return a.with(ctx, path, false, func(db *sessiondb.DB) error {
		if now := db.Info().SchemaVersion; before > 0 && before < now {
			a.note("migrated %s from schema version %d to %d", shown(path), before, now)
		}
		return fn(db)
	})
}

func (a *app) with(ctx context.Context, path string, readOnly bool, fn func(*sessiondb.DB) error) (err error) {
	defer func() { err = toldOf(path, err) }()
	if a.readDSN != "" && !onServer(path) {
		return usagef("--read-dsn goes with a store on a server, and %s is a file", path)
	}
	p := a.NewProgress()
	defer p.Done()
	o := sqlite.Options{ReadOnly: readOnly, Logger: a.logger(), Now: a.now, Progress: p.Report}
	var damage firstError
	if readOnly && !a.strict {
		o.Damaged = damage.note
	}
	var db *sessiondb.DB
	if onServer(path) {
		db, err = a.openServer(ctx, path, readOnly)
	} else {
		db, err = sqlite.Open(ctx, path, o)
	}
	p.Done()
	if err != nil {
		if !onServer(path) && !strings.Contains(err.Error(), path) {
			err = fmt.Errorf("open store %s: %w", path, err)
		}
		if readOnly && errors.Is(err, sessiondb.ErrReadOnly) {
			err = failf(errors.Join(errNeedsWriter, err), "%v", err)
		}
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	if err := fn(db); err != nil {
		return err
	}
	return damage.err // what could be read was shown
}

// firstError keeps the first of several errors.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) note(err error) { f.once.Do(func() { f.err = err }) }

// find returns the session that a person means.
func (a *app) find(ctx context.Context, db *sessiondb.DB, ref string) (sessiondb.Session, error) {
	return found(ctx, ref, db.FindSession, "the title")
}

// findExactly returns the session that a command changes, where a title stands
// for no other of its lineage.
func (a *app) findExactly(ctx context.Context, db *sessiondb.DB, ref string) (sessiondb.Session, error) {
	return found(ctx, ref, db.SessionNamed, "exactly the title")
}

type lookup func(ctx context.Context, ref string) (sessiondb.Session, error)

func found(ctx context.Context, ref string, look lookup, titled string) (sessiondb.Session, error) {
	if ref == "" {
		return sessiondb.Session{}, usagef("the session is empty: give an id, the beginning of one, or a title")
	}
	s, err := look(ctx, ref)
	var several *sessiondb.AmbiguousError
	switch {
	case errors.As(err, &several):
		return s, several
	case errors.Is(err, sessiondb.ErrNotFound):
		return s, failf(err, "no session has the id or %s %q, and no id begins with it", titled, ref)
	}
	return s, err
}
