package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// mendable returns the findings that a repair mends, or why there can be none:
// where something is lost, a write could make it worse.
func mendable(found []sessiondb.Finding) (out []sessiondb.Finding, err error) {
	for _, f := range found {
		switch {
		case f.Severity == sessiondb.SeverityError && !recoverable(f):
			return nil, failf(errUnusable, "it can't be mended: %s; nothing was changed; %s", f.What, nextStep(f))
		case f.Severity == sessiondb.SeverityError:
			return nil, failf(errBeyond, "it can't be mended in place: %s", f.What)
		case f.Code == "schema_newer":
			return nil, failf(sessiondb.ErrSchemaNewer, "nothing was changed: %s", f.What)
		case f.Severity.Bad() && strings.Contains(f.Fix, "doctor --fix"), f.Code == "permissions", f.Code == "wal_large":
			out = append(out, f)
		}
	}
	return out, nil
}

// fix mends what doctor found, after a backup, and shows what is left.
func (a *app) fix(ctx context.Context, path string, o fixOptions, found []sessiondb.Finding) error {
	mend, err := mendable(found)
	if err == nil && !o.dryRun {
		found = a.sweep(path, found)
	}
	if err != nil || len(mend) == 0 || o.dryRun {
		for _, f := range mend {
			a.note("would mend: %s", f.What)
		}
		return firstOf(a.printFindings(found), err, verdict(found))
	}
	beside := path
	if onServer(path) {
		beside = "sessiondb"
	}
	named := func() string { return sqlite.StampedName(beside, ".before-fix-", a.now()) }
	if o.backup != "" {
		named = func() string { return o.backup }
	}
	for _, f := range mend {
		a.note("to mend: %s", f.What)
	}
	question := fmt.Sprintf("Mend this in %s, after a backup to %s?", shown(path), named())
	if err := a.ask(ctx, o.consent, question); err != nil {
		return err
	}
	if err := a.backupFirst(ctx, path, named); err != nil {
		return failf(err, "nothing was changed, since no backup could be made: %v", err)
	}
	if err := a.mend(ctx, path, o.full); err != nil {
		return err
	}
	left, err := a.examine(ctx, path, o.full)
	for _, f := range mend {
		if !slices.Contains(left, f) {
			a.note("mended: %s", f.What)
		}
	}
	return firstOf(a.printFindings(left), err, verdict(left))
}

// sweep removes what runs that were killed left beside the store, and returns
// the other findings. Nothing of the store is in it, so no backup comes first.
func (a *app) sweep(path string, found []sessiondb.Finding) []sessiondb.Finding {
	if !slices.ContainsFunc(found, isPartial) {
		return found
	}
	for _, dir := range sqlite.SweepPartial(path) {
		a.note("removed %s", dir)
	}
	return slices.DeleteFunc(found, isPartial)
}

func isPartial(f sessiondb.Finding) bool { return f.Code == "partial_left" }

// backupFirst makes a verified copy. Where only a writer can make the store
// whole, the files are copied as they are.
func (a *app) backupFirst(ctx context.Context, path string, named func() string) (err error) {
	begun := time.Now()
	to := named()
	for again := true; again; again = errors.Is(err, fs.ErrExist) && to != named() {
		to = named()
		err = a.copyTo(ctx, path, to)
	}
	if err == nil {
		a.note("backup: %s (%.1f s)", to, time.Since(begun).Seconds())
	}
	return err
}

func (a *app) copyTo(ctx context.Context, path, to string) error {
	err := a.with(ctx, path, true, func(db *sessiondb.DB) error {
		defer a.working("backing up")()
		return db.Backup(ctx, to)
	})
	if errors.Is(err, errNeedsWriter) {
		err = sqlite.CopyFiles(ctx, path, to)
	}
	return err
}

func (a *app) mend(ctx context.Context, path string, full bool) error {
	return a.with(ctx, path, false, func(db *sessiondb.DB) error {
		defer a.working("mending")()
		_, err := db.Repair(ctx, sessiondb.RepairOptions{Full: full, Done: func(r sessiondb.Repaired) { a.note("did: %s", r.What) }})
		return err
	})
}

// firstOf is the first error there is.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
