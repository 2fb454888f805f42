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
)

func (a *app) pruneCommand() *cobra.Command {
	var c consent
	var files transcriptFiles
	var f sessiondb.PruneFilter
	var older string
	var days int
	var permanent bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old conversations that have ended",
		Long: `Delete conversations that have ended and were last active before the time given.
A conversation that was compressed and went on is judged by its live end.
Sessions that never ended stay, and are counted. What is deleted is in the trash
for 30 days, from where 'trash restore' brings it back; with --permanent it is
gone, and its room can be used again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("days") {
				if cmd.Flags().Changed("older-than") {
					return usagef("--days and --older-than say the same: give one of them")
				}
				older = fmt.Sprintf("%dd", days)
			}
			age, ok := parseAge(older)
			if !ok {
				return usagef("--older-than %q: it is a number and a unit, such as 90d, 12w or 36h", older)
			}
			f.OlderThan = max(age, time.Nanosecond) // 0 would stand for the default
			if err := a.possible(c); err != nil {
				return err
			}
			return a.prune(cmd.Context(), f, c, files, sessiondb.DeleteOptions{Trash: !permanent})
		},
	}
	c.flags(cmd)
	files.flags(cmd)
	permanentFlag(cmd, &permanent)
	cmd.Flags().StringVar(&older, "older-than", "90d", "last active longer than `AGE` ago: 90d, 12w, 36h")
	cmd.Flags().IntVar(&days, "days", 90, "the same as a number of `DAYS`")
	cmd.Flags().StringVar(&f.Source, "source", "", "only sessions from `SOURCE`")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	a.tagFlag(cmd, &f.Tags)
	a.completeSource(cmd, "source")
	return cmd
}

func (a *app) prune(ctx context.Context, f sessiondb.PruneFilter, c consent, files transcriptFiles, o sessiondb.DeleteOptions) error {
	if err := files.set(a, &o); err != nil {
		return err
	}
	if c.dryRun || !c.yes {
		o.DryRun = true
		var would sessiondb.DeleteReport
		err := a.read(ctx, func(db *sessiondb.DB) (err error) {
			would, err = db.Prune(ctx, f, o)
			return err
		})
		if err != nil {
			return err
		}
		if c.dryRun || len(would.Sessions) == 0 {
			return a.deleted("would delete", would)
		}
		if err := a.ask(ctx, c, "Delete "+strings.Join(sumOf(would), ", ")+forGood(o)+"?"); err != nil {
			return err
		}
		o.DryRun = false
	}
	return a.write(ctx, func(db *sessiondb.DB) error {
		done, err := db.Prune(ctx, f, o)
		if err != nil && len(done.Sessions) == 0 {
			return err
		}
		if err != nil {
			err = failf(errors.Join(errPartly, err), "%v", err)
		}
		if o.Trash && len(done.Sessions) > 0 {
			a.note("for 30 days, 'sessiondb trash restore' brings back what was deleted")
		}
		return cmp.Or(a.deleted("deleted", done), err)
	})
}
