package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) tagCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tag SESSION [+TAG...] [-TAG...]",
		Short: "Put tags on a conversation, or take them away",
		Long: `Put tags on a conversation, or take them away, and print those that it has then.
A tag is one word, in lower case, and on the whole conversation: what goes on
after a compression has it too. 'list', 'search', 'export', 'usage', 'prune' and
'watch' take --tag, and tag:TAG is a filter of a search.`,
		Example: `  sessiondb tag "deploy plan" +work +urgent
  sessiondb tag "deploy plan" -urgent
  sessiondb list --tag work`,
		DisableFlagParsing: true, // -TAG is no flag
		ValidArgsFunction:  a.completeTagging,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, help, err := readTagging(cmd, args)
			if help {
				return cmd.Help()
			}
			if err == nil {
				err = plausible(cmd)
			}
			if err != nil {
				return usageError{err}
			}
			return a.tag(cmd.Context(), t)
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print what it has then as JSON (see docs/json.md)")
	cmd.AddCommand(a.tagListCommand())
	return cmd
}

// tagging is what the command tag was asked for.
type tagging struct {
	session     string
	add, remove []string
}

// readTagging tells the session, the tags and the flags, which begin with two
// hyphens, apart.
func readTagging(cmd *cobra.Command, args []string) (t tagging, help bool, err error) {
	var flags, words []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, _, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case arg == "-h":
			return t, true, nil
		case !strings.HasPrefix(arg, "--"):
			words = append(words, arg)
			continue
		}
		flags = append(flags, arg)
		if f := cmd.Flag(name); f != nil && f.NoOptDefVal == "" && !given && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	if err := cmd.Flags().Parse(flags); err != nil {
		return t, false, err
	}
	if help, _ = cmd.Flags().GetBool("help"); help {
		return t, true, nil
	}
	if len(words) == 0 {
		return t, false, oneSession(cmd, nil)
	}
	t.session = words[0]
	for _, w := range words[1:] {
		if tag, ok := strings.CutPrefix(w, "-"); ok {
			t.remove = append(t.remove, tag)
		} else {
			t.add = append(t.add, strings.TrimPrefix(w, "+"))
		}
	}
	return t, false, nil
}

// taggedSession is what the command tag prints.
type taggedSession struct {
	SessionID string   `json:"session_id"`
	Tags      []string `json:"tags"`
}

func (a *app) tag(ctx context.Context, t tagging) error {
	open := a.write
	if len(t.add)+len(t.remove) == 0 {
		open = a.read
	}
	return open(ctx, func(db *sessiondb.DB) error {
		s, err := a.findExactly(ctx, db, t.session)
		if err != nil {
			return err
		}
		out := taggedSession{s.ID, nil}
		if len(t.add)+len(t.remove) == 0 {
			out.Tags, err = db.Tags(ctx, s.ID)
		} else {
			out.Tags, err = db.Tag(ctx, s.ID, t.add, t.remove)
		}
		if err != nil {
			return err
		}
		if a.json {
			out.Tags = append([]string{}, out.Tags...)
			return printJSON(a, out)
		}
		_, err = fmt.Fprintf(a.Out, "%s\t%s\n", term.Line(s.ID), term.Line(strings.Join(out.Tags, " ")))
		return err
	})
}

func (a *app) tagListCommand() *cobra.Command {
	return a.reading(&cobra.Command{
		Use:   "list",
		Short: "List the tags in use, the most used first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.read(cmd.Context(), func(db *sessiondb.DB) error {
				all, err := db.AllTags(cmd.Context())
				if err != nil {
					return err
				}
				if a.json {
					return printJSON(a, all...)
				}
				t := a.NewTable(term.Column{Name: "tag", Min: 8}, term.Column{Name: "conversations", Right: true})
				for _, tag := range all {
					if err := t.Row(term.Text(tag.Tag), term.Int(tag.Conversations)); err != nil {
						return err
					}
				}
				return t.Flush()
			})
		},
	})
}

// tagFlag gives a command the flag --tag.
func (a *app) tagFlag(cmd *cobra.Command, tags *[]string) {
	cmd.Flags().StringSliceVar(tags, "tag", nil, "only conversations with `TAG`; given again, with each of them")
	_ = cmd.RegisterFlagCompletionFunc("tag", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.tagsBehind(cmd, ""), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeTagging completes a session, and then tags that are in use.
func (a *app) completeTagging(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeSession(cmd, args, typed)
	}
	sign := "+"
	if strings.HasPrefix(typed, "-") {
		sign = "-"
	}
	return a.tagsBehind(cmd, sign), cobra.ShellCompDirectiveNoFileComp
}

// tagsBehind are the tags in use, each behind a sign.
func (a *app) tagsBehind(cmd *cobra.Command, sign string) (out []cobra.Completion) {
	_ = a.read(cmd.Context(), func(db *sessiondb.DB) error {
		all, err := db.AllTags(cmd.Context())
		for _, t := range all {
			if term.Line(t.Tag) == t.Tag {
				out = append(out, sign+t.Tag)
			}
		}
		return err
	})
	return out
}
