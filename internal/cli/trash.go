package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) trashCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trash",
		Short: "List, restore or finally delete what was deleted",
		Long: `What 'delete' and 'prune' take stays in the trash for 30 days, from where it can be
restored. What has been there for longer goes with the next deletion, or with
automatic maintenance.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no 'trash %s': it is list, restore or empty", args[0])
			}
			return usagef("list, restore or empty the trash?")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.trashListCommand(), a.trashRestoreCommand(), a.trashEmptyCommand())
	return cmd
}

func (a *app) trashListCommand() *cobra.Command {
	var f sessiondb.TrashFilter
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is in the trash, the last deleted first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit == 0 {
				f.Limit = -1
			}
			return a.read(cmd.Context(), func(db *sessiondb.DB) error { return a.trashList(cmd.Context(), db, f) })
		},
	}
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "at most `N`; 0 is no limit")
	cmd.Flags().IntVar(&f.Offset, "offset", 0, "leave out the first `N`")
	return a.reading(cmd)
}

func (a *app) trashList(ctx context.Context, db *sessiondb.DB, f sessiondb.TrashFilter) error {
	all, err := db.Trash(ctx, f)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, all...)
	}
	if len(all) == 0 {
		a.note("nothing in the trash")
	}
	t := a.NewTable(
		term.Column{Name: "id"},
		term.Column{Name: "title", Min: 24},
		term.Column{Name: "source", Min: 6, Drop: 2},
		term.Column{Name: "messages", Right: true, Drop: 1},
		term.Column{Name: "deleted", Right: true},
		term.Column{Name: "days left", Right: true},
		term.Column{Name: "deletion", Plain: true},
	)
	now := a.now()
	for _, e := range all {
		left := max(0, int64((e.ExpiresAt.Sub(now)+24*time.Hour-1)/(24*time.Hour)))
		if err := t.Row(term.Text(e.Session.ID), term.Text(deref(e.Session.Title)), term.Text(e.Session.Source),
			term.Int(e.Messages), term.Time(now, e.DeletedAt), term.Int(left), term.Text(e.ID)); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (a *app) trashRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore SESSION",
		Short: "Put a conversation back as it was",
		Long: `Put a conversation from the trash back as it was, with the same ids; children that
lost their parent have it again. SESSION is the id or the title of any part of it,
the beginning of an id, or the id of the deletion. Transcript files that were
deleted with it do not come back.`,
		Args:              oneSession,
		ValidArgsFunction: a.completeTrashed,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.trashRestore(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

func (a *app) trashRestore(ctx context.Context, ref string) error {
	return a.write(ctx, func(db *sessiondb.DB) error {
		e, err := db.FindTrashed(ctx, ref)
		if errors.Is(err, sessiondb.ErrNotFound) {
			return failf(errors.Join(errNotInTrash, err), "nothing in the trash has the id or the title %q, and no id begins with it", ref)
		}
		if err != nil {
			return err
		}
		r, err := db.RestoreTrashed(ctx, e.ID)
		if errors.Is(err, sessiondb.ErrExists) {
			return failf(errors.Join(errInTheWay, err), "%v", err)
		}
		if err != nil {
			return err
		}
		for _, id := range r.Untitled {
			a.note("%s is back without its title, which another session has by now", term.Line(id))
		}
		if a.json {
			return printJSON(a, r)
		}
		if !a.OutTTY {
			return a.ids(r.Sessions)
		}
		_, err = fmt.Fprintf(a.Out, "restored %s, %s\n", count(int64(len(r.Sessions)), "session"), count(r.Messages, "message"))
		return err
	})
}

func (a *app) trashEmptyCommand() *cobra.Command {
	var c consent
	var older string
	cmd := &cobra.Command{
		Use:   "empty",
		Short: "Delete what is in the trash for good",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, ok := parseAge(older)
			if !ok {
				return usagef("--older-than %q: it is a number and a unit, such as 7d, 12w or 36h", older)
			}
			if err := a.possible(c); err != nil {
				return err
			}
			return a.trashEmpty(cmd.Context(), c, sessiondb.EmptyTrashOptions{OlderThan: age})
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&older, "older-than", "0d", "only what was deleted longer than `AGE` ago: 7d, 36h")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

func (a *app) trashEmpty(ctx context.Context, c consent, o sessiondb.EmptyTrashOptions) error {
	var would sessiondb.TrashEmptied
	err := a.read(ctx, func(db *sessiondb.DB) (err error) {
		dry := o
		dry.DryRun = true
		would, err = db.EmptyTrash(ctx, dry)
		return err
	})
	if err != nil || c.dryRun || would.Conversations == 0 {
		return cmp.Or(err, a.emptied("would delete", would))
	}
	if err := a.ask(ctx, c, "Delete "+strings.Join(sumOfEmptied(would), ", ")+" for good?"); err != nil {
		return err
	}
	return a.write(ctx, func(db *sessiondb.DB) error {
		p := a.NewProgress()
		defer p.Done()
		o.Progress = func(done, total int64) { p.Report("conversations", done, total) }
		r, err := db.EmptyTrash(ctx, o)
		p.Done()
		if err != nil && r.Conversations > 0 {
			err = failf(errors.Join(errPartly, err), "%v", err)
		}
		return cmp.Or(a.emptied("deleted", r), err)
	})
}

func (a *app) emptied(did string, r sessiondb.TrashEmptied) error {
	if a.json {
		return printJSON(a, r)
	}
	if !a.OutTTY {
		_, err := fmt.Fprintf(a.Out, "%d\t%d\t%d\n", r.Conversations, r.Sessions, r.Messages)
		return err
	}
	_, err := fmt.Fprintf(a.Out, "%s %s\n", did, strings.Join(sumOfEmptied(r), ", "))
	return err
}

func sumOfEmptied(r sessiondb.TrashEmptied) []string {
	return []string{count(r.Conversations, "conversation"), count(r.Sessions, "session"), count(r.Messages, "message")}
}

// completeTrashed completes the ids of what is in the trash.
func (a *app) completeTrashed(cmd *cobra.Command, args []string, typed string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = a.read(cmd.Context(), func(db *sessiondb.DB) error {
		all, err := db.Trash(cmd.Context(), sessiondb.TrashFilter{Limit: recentForCompletion})
		for _, e := range all {
			if id := e.Session.ID; strings.HasPrefix(id, typed) && term.Line(id) == id {
				out = append(out, cobra.CompletionWithDesc(id, term.Line(deref(e.Session.Title))))
			}
		}
		return err
	})
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
