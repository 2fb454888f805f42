package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) renameCommand() *cobra.Command {
	var next bool
	cmd := &cobra.Command{
		Use:   "rename SESSION TITLE",
		Short: "Give a session a title",
		Long:  `Give a session a title, which no other session may have. An empty title takes it away.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("a session and its title, not %d arguments: put quotes around a title of several words", len(args))
			}
			return nil
		},
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.write(ctx, func(db *sessiondb.DB) error {
				s, err := a.findExactly(ctx, db, args[0])
				if err != nil {
					return err
				}
				title, err := sessiondb.CleanTitle(args[1])
				if err != nil {
					return err
				}
				if next {
					title, err = db.SetTitleAuto(ctx, s.ID, title)
				} else {
					err = db.SetTitle(ctx, s.ID, title)
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.Out, "%s\t%s\n", term.Line(s.ID), term.Line(title))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&next, "next", false, "where the title is taken, take the next free \"TITLE #N\"")
	return cmd
}
