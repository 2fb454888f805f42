package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) forkCommand() *cobra.Command {
	var at int64
	var end bool
	cmd := &cobra.Command{
		Use:   "fork SESSION",
		Short: "Begin another conversation with what was said up to a message",
		Long: `Make a new session with the conversation up to and including a message, and print
its id and title. The session it is made from stays as it is, and may go on; what
the fork came from is shown by 'lineage'. Results of tools that the message calls
go along. The ids of messages are those of 'show --json' and 'search'.`,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at") && at == 0 {
				return usagef("--at 0: it is the id of a message")
			}
			return a.fork(cmd.Context(), args[0], at, sessiondb.ForkOptions{EndParent: end})
		},
	}
	cmd.Flags().Int64Var(&at, "at", 0, "the last `MESSAGE` to take along (default: the last there is)")
	cmd.Flags().BoolVar(&end, "end", false, "end the session it is made from, as branched")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the new session as JSON (see docs/json.md)")
	return cmd
}

func (a *app) fork(ctx context.Context, ref string, at int64, o sessiondb.ForkOptions) error {
	return a.write(ctx, func(db *sessiondb.DB) error {
		s, err := a.find(ctx, db, ref)
		if err != nil {
			return err
		}
		f, err := db.Fork(ctx, s.ID, at, o)
		if err != nil {
			return err
		}
		if a.json {
			return printJSON(a, f)
		}
		if a.OutTTY {
			a.note("%s in it", count(f.MessageCount, "message"))
		}
		_, err = fmt.Fprintf(a.Out, "%s\t%s\n", term.Line(f.ID), term.Line(deref(f.Title)))
		return err
	})
}
