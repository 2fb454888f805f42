package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os/exec"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/postgres"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// onServer reports whether a store is on a server, and no file. Whatever begins
// as an address of one does, so that a slip of the pen makes no file of that
// name, with the password in it.
func onServer(store string) bool {
	scheme, _, ok := strings.Cut(store, ":")
	return ok && (strings.EqualFold(scheme, "postgres") || strings.EqualFold(scheme, "postgresql"))
}

// address is the address of a server as it must be written.
func address(store string) (string, error) {
	scheme, rest, _ := strings.Cut(store, ":")
	if !strings.HasPrefix(rest, "//") {
		return "", usagef("a store on a server is postgres://USER@HOST/DATABASE, with two slashes")
	}
	return strings.ToLower(scheme) + ":" + rest, nil
}

// shown is a store as it may be printed: without a password.
func shown(store string) string {
	u, err := url.Parse(store)
	switch {
	case !onServer(store):
		return store
	case err != nil || u.Opaque != "" || u.Host == "":
		return "the server"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	q.Del("password")
	q.Del("sslpassword")
	u.RawQuery = q.Encode()
	return u.String()
}

// openServer opens a store on a server.
func (a *app) openServer(ctx context.Context, store string, readOnly bool) (*sessiondb.DB, error) {
	db, err := postgres.Open(ctx, store, postgres.Options{ReadOnly: readOnly, ReadDSN: a.readDSN, Logger: a.logger(), Now: a.now})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failf(errNoStore, "there is no store in that schema of %s", shown(store))
	}
	return db, err
}

// notOnServer refuses what only a file can have done to it.
func notOnServer(store, instead string) error {
	if onServer(store) {
		return usagef("the store is on a server: %s", instead)
	}
	return nil
}

// backupServer dumps a store on a server to a file.
func (a *app) backupServer(ctx context.Context, args []string, keep int) (b backedUp, err error) {
	if len(args) == 0 || args[0] == "" || keep > 0 {
		return b, usagef("the store is on a server: give the file for the dump, and no --keep")
	}
	b.Path, b.Removed, b.Held = args[0], []string{}, []sqlite.HeldBackup{}
	err = a.read(ctx, func(db *sessiondb.DB) error {
		b.BackupReport, err = db.BackupWithReport(ctx, b.Path)
		return err
	})
	return b, err
}

// verifyDump reads a dump of a store on a server through. What is none is no backup for
// the reason that was found before.
func (a *app) verifyDump(ctx context.Context, path string, r *sessiondb.BackupReport, before error) error {
	defer a.working("reading the dump")()
	dump, err := postgres.VerifyDump(ctx, path)
	if errors.Is(err, sessiondb.ErrNotStore) || errors.Is(err, exec.ErrNotFound) {
		return before
	}
	*r = dump
	r.Bytes = size(path)
	return err
}

// checkServer checks a store on a server.
func (a *app) checkServer(ctx context.Context, store string, o sessiondb.CheckOptions) (found []sessiondb.Finding, err error) {
	err = a.with(ctx, store, true, func(db *sessiondb.DB) error {
		found, err = db.Check(ctx, o)
		return err
	})
	return found, err
}
