package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// recentForCompletion is how many sessions are looked at for completion.
const recentForCompletion = 500

// completeSession completes the ids and titles of sessions, for an argument.
func (a *app) completeSession(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.sessionsLike(cmd, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (a *app) sessionsLike(cmd *cobra.Command, typed string) (out []cobra.Completion) {
	ctx := cmd.Context()
	_ = a.read(ctx, func(db *sessiondb.DB) error {
		recent, err := db.Sessions(ctx, sessiondb.ListFilter{ByLastActive: true, Limit: recentForCompletion})
		for _, s := range recent {
			title := term.Line(deref(s.Title))
			if strings.HasPrefix(s.ID, typed) && term.Line(s.ID) == s.ID {
				out = append(out, cobra.CompletionWithDesc(s.ID, orElse(title, s.Preview)))
			}
			if typed != "" && s.Title != nil && title == *s.Title && hasPrefixFold(title, typed) {
				out = append(out, cobra.CompletionWithDesc(title, s.ID))
			}
		}
		if len(out) == 0 && typed != "" {
			out = older(ctx, db, typed)
		}
		return err
	})
	return out
}

// older completes the id of a session that is not among the recent ones.
func older(ctx context.Context, db *sessiondb.DB, typed string) []cobra.Completion {
	id, err := db.ResolveSessionID(ctx, typed)
	var several *sessiondb.AmbiguousError
	switch {
	case errors.As(err, &several):
		return slices.DeleteFunc(several.Candidates, func(id string) bool { return term.Line(id) != id })
	case err != nil || term.Line(id) != id:
		return nil
	}
	return []cobra.Completion{id}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func orElse(s, other string) string {
	if s == "" {
		return term.Line(other)
	}
	return s
}

// completeFlag completes a flag that has few values.
func (a *app) completeFlag(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeSource completes the sources of recent sessions.
func (a *app) completeSource(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		_ = a.read(cmd.Context(), func(db *sessiondb.DB) error {
			recent, err := db.RecentSessions(cmd.Context(), "", recentForCompletion, 0)
			seen := map[string]bool{}
			for _, s := range recent {
				if !seen[s.Source] && term.Line(s.Source) == s.Source {
					seen[s.Source] = true
					out = append(out, s.Source)
				}
			}
			return err
		})
		return out, cobra.ShellCompDirectiveNoFileComp
	})
}
