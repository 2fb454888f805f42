package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

func (a *app) listCommand() *cobra.Command {
	var f sessiondb.ListFilter
	var sort string
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, the most recently active first",
		Long: `List conversations, the most recently active first. A conversation that was
compressed and went on is one line, with the id to go on with.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("sort", sort, "activity", "start"); err != nil {
				return err
			}
			f.ByLastActive = sort == "activity"
			f.Archived = all
			if all && !cmd.Flags().Changed("limit") {
				f.Limit = -1
			}
			if f.Limit == 0 {
				f.Limit = -1
			}
			return a.read(cmd.Context(), func(db *sessiondb.DB) error { return a.list(cmd.Context(), db, f) })
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.Source, "source", "", "only conversations from `SOURCE` (cli, telegram, ...)")
	fs.StringSliceVar(&f.ExcludeSources, "exclude-source", nil, "leave conversations from `SOURCE` out")
	fs.IntVar(&f.Limit, "limit", 20, "at most `N`; 0 is no limit")
	fs.IntVar(&f.Offset, "offset", 0, "leave out the first `N`")
	fs.StringVar(&sort, "sort", "activity", "order: activity or start")
	fs.BoolVar(&f.Children, "children", false, "every session by itself, with delegates and the parts of compressed conversations")
	fs.BoolVar(&all, "all", false, "no limit, and with what is archived")
	a.tagFlag(cmd, &f.Tags)
	a.completeFlag(cmd, "sort", "activity", "start")
	a.completeSource(cmd, "source")
	a.completeSource(cmd, "exclude-source")
	return a.reading(cmd)
}

func (a *app) list(ctx context.Context, db *sessiondb.DB, f sessiondb.ListFilter) error {
	rows, err := db.Sessions(ctx, f)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, rows...)
	}
	if len(rows) == 0 && f.Offset > 0 {
		a.note("no conversations after the first %d", f.Offset)
	} else if len(rows) == 0 {
		a.note("no conversations")
	}
	t := a.NewTable(
		term.Column{Name: "id"},
		term.Column{Name: "title", Min: 24},
		term.Column{Name: "source", Min: 6, Drop: 1},
		term.Column{Name: "model", Min: 8, Drop: 3},
		term.Column{Name: "messages", Right: true, Drop: 2},
		term.Column{Name: "active", Right: true},
		term.Column{Name: "preview", Plain: true},
	)
	now := a.now()
	for _, s := range rows {
		shown := deref(s.Title)
		if s.Title == nil && s.Preview != "" {
			shown = "“" + s.Preview + "”"
		}
		title := term.Alternatives(strings.TrimSpace(shown+" "+transcript.Tags(s.Tags)), deref(s.Title))
		if err := t.Row(term.Text(s.ID), title, term.Text(s.Source), term.Text(deref(s.Model)),
			term.Int(s.MessageCount), term.Time(now, s.LastActive), term.Text(s.Preview)); err != nil {
			return err
		}
	}
	return t.Flush()
}
