package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
)

func (a *app) watchCommand() *cobra.Command {
	f := sessiondb.WatchFilter{After: -1}
	cmd := &cobra.Command{
		Use:   "watch [SESSION]",
		Short: "Print new messages as they are stored, as JSON lines",
		Long: `Print new messages of all sessions, or of one, as they are stored by any program:
one JSON object a line, as show --json prints them. It goes on until it is
interrupted, also when a server is started again. To miss nothing between two runs, give --after the last id that was
seen.`,
		Example: `  sessiondb watch --source telegram | jq -r .content`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return oneSession(nil, args)
			}
			return nil
		},
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			a.strict = true // what comes next must not be missed in silence
			return a.read(ctx, func(db *sessiondb.DB) error {
				if len(args) == 1 {
					s, err := a.find(ctx, db, args[0])
					if err != nil {
						return err
					}
					f.SessionID = s.ID
				}
				return a.watch(ctx, db, f)
			})
		},
	}
	cmd.Flags().Int64Var(&f.After, "after", -1, "begin with the messages after message `ID`; 0 for all there are")
	cmd.Flags().StringVar(&f.Source, "source", "", "only messages of sessions from `SOURCE`")
	a.tagFlag(cmd, &f.Tags)
	a.completeSource(cmd, "source")
	return cmd
}

func (a *app) watch(ctx context.Context, db *sessiondb.DB, f sessiondb.WatchFilter) error {
	lost := false
	f.Lost = func(err error) bool {
		if !lost {
			a.note("%v; nothing is missed: it goes on when the server answers again", err)
		}
		lost = true
		return true
	}
	for m, err := range db.Watch(ctx, f) {
		lost = false
		if err == nil {
			err = printJSON(a, m)
		}
		if err != nil {
			return err
		}
	}
	return nil // an interrupt is how it ends
}
