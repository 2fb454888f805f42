package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// restored is what the restore command tells.
type restored struct {
	Path string `json:"path"`
	From string `json:"from"`
	sqlite.RestoreReport
	DryRun bool `json:"dry_run"`
}

func (a *app) restoreCommand() *cobra.Command {
	var c consent
	cmd := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Put a backup in the place of the store",
		Long: `Make the store what a backup holds. The backup is read through first, and what
is in the store now is kept in a file beside it. No program may have the store
open. However it ends, the store holds what was there before or what the backup
holds, never a mixture.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("the backup is empty: give a file")
			}
			if err := a.possible(c); err != nil {
				return err
			}
			return a.restore(cmd.Context(), args[0], c)
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

func (a *app) restore(ctx context.Context, from string, c consent) error {
	path, err := a.storePath()
	if err != nil {
		return err
	}
	if err := notOnServer(path, "pg_restore puts a dump back"); err != nil {
		return err
	}
	if info, err := os.Stat(from); err != nil {
		return err
	} else if at, err := os.Stat(path); err == nil && os.SameFile(info, at) {
		return usagef("%s: a store can't be restored from itself", from)
	}
	r := restored{Path: path, From: from, DryRun: c.dryRun}
	if c.dryRun || !c.yes {
		would, err := a.restoreFrom(ctx, path, from, true)
		if err != nil {
			return err
		}
		r.RestoreReport = would
		if c.dryRun {
			return a.restored(r)
		}
		if err := a.ask(ctx, c, fmt.Sprintf("Put the backup (%s) in the place of %s (%s)?", holds(would), path, a.present(ctx, path))); err != nil {
			return err
		}
	}
	r.RestoreReport, err = a.restoreFrom(ctx, path, from, false)
	if err != nil {
		return err
	}
	return a.restored(r)
}

func (a *app) restoreFrom(ctx context.Context, path, from string, dryRun bool) (sqlite.RestoreReport, error) {
	p := a.NewProgress()
	defer p.Done()
	r, err := sqlite.Restore(ctx, path, from, sqlite.RestoreOptions{DryRun: dryRun, Now: a.now, Progress: p.Report})
	return r, badBackup(err)
}

// badBackup marks an error that is about what was read.
func badBackup(err error) error {
	if e := (*sqlite.TargetError)(nil); errors.As(err, &e) {
		return err
	}
	if errors.Is(err, sessiondb.ErrCorrupt) || errors.Is(err, sessiondb.ErrNotStore) {
		return failf(errors.Join(errBadBackup, err), "%v", err)
	}
	return err
}

// present says in a few words what is in the store now.
func (a *app) present(ctx context.Context, path string) string {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return "nothing is there"
	}
	text := "what is there can't be read"
	_ = a.with(ctx, path, true, func(db *sessiondb.DB) error {
		sessions, err := db.SessionCount(ctx, "")
		if err != nil {
			return err
		}
		messages, err := db.MessageCount(ctx, "")
		if err == nil {
			text = count(sessions, "session") + ", " + count(messages, "message")
		}
		return err
	})
	return text
}

func holds(r sqlite.RestoreReport) string {
	return count(r.Sessions, "session") + ", " + count(r.Messages, "message")
}

func (a *app) restored(r restored) error {
	if r.IndexDamaged {
		a.note("warning: an index in the backup is damaged; every session and message is in it, and the index can be rebuilt from them")
	}
	if a.json {
		return printJSON(a, r)
	}
	if !a.OutTTY {
		_, err := fmt.Fprintf(a.Out, "%s\t%d\t%d\t%s\n", term.Line(r.Path), r.Sessions, r.Messages, term.Line(r.Kept))
		return err
	}
	if r.DryRun {
		_, err := fmt.Fprintf(a.Out, "would restore %s: %s\n", term.Line(r.Path), holds(r.RestoreReport))
		return err
	}
	text := fmt.Sprintf("restored %s: %s", term.Line(r.Path), holds(r.RestoreReport))
	switch {
	case r.KeptDamaged:
		text += "; the damaged store that was there is " + term.Line(r.Kept)
	case r.Kept != "":
		text += "; what was there before is in " + term.Line(r.Kept)
	}
	_, err := fmt.Fprintln(a.Out, text)
	return err
}
