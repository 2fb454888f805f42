package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) searchCommand() *cobra.Command {
	var q sessiondb.SearchQuery
	var sort string
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find messages",
		Long: `Find messages that hold all words of the query. "Quotes" make a phrase; OR, AND,
NOT in capitals, -word, (groups) and prefix* work; so do filters such as
source:telegram, role:user, after:2026-01-31. Nothing that is typed is an error.
Finding nothing is not a failure: the exit code is 0.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("search for what?")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("sort", sort, "rank", "newest", "oldest"); err != nil {
				return err
			}
			if sort != "rank" {
				q.Sort = sessiondb.SearchSort(sort)
			}
			q.Text = strings.Join(args, " ")
			return a.read(cmd.Context(), func(db *sessiondb.DB) error { return a.search(cmd.Context(), db, q) })
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&q.Sources, "source", nil, "only in sessions from `SOURCE`")
	fs.StringSliceVar(&q.ExcludeSources, "exclude-source", nil, "not in sessions from `SOURCE`")
	fs.StringSliceVar(&q.Roles, "role", nil, "only messages of `ROLE` (user, assistant, tool)")
	fs.StringVar(&sort, "sort", "rank", "order: rank, newest or oldest")
	fs.IntVar(&q.Limit, "limit", 20, "at most `N` hits")
	fs.IntVar(&q.Offset, "offset", 0, "leave out the first `N` hits")
	a.completeFlag(cmd, "sort", "rank", "newest", "oldest")
	a.completeFlag(cmd, "role", "user", "assistant", "tool", "system")
	a.completeSource(cmd, "source")
	a.completeSource(cmd, "exclude-source")
	return a.reading(cmd)
}

func (a *app) search(ctx context.Context, db *sessiondb.DB, q sessiondb.SearchQuery) error {
	found, err := db.Search(ctx, q)
	if err != nil {
		return err
	}
	hits := found.Hits
	switch {
	case a.json:
		return printJSON(a, hits...)
	case !a.OutTTY:
		return a.hitTable(hits)
	case len(hits) == 0:
		a.note("nothing found")
		return nil
	}
	w := bufio.NewWriter(a.Out)
	for i, h := range hits {
		if i > 0 {
			_, _ = fmt.Fprintln(w)
		}
		a.hit(w, h)
	}
	return w.Flush()
}

func (a *app) hitTable(hits []sessiondb.SearchHit) error {
	t := a.NewTable(make([]term.Column, 6)...)
	for _, h := range hits {
		if err := t.Row(term.Text(h.SessionID), term.Alternatives("", fmt.Sprint(h.MessageID)), term.Time(a.now(), h.Timestamp),
			term.Text(h.Source), term.Text(h.Role), term.Text(h.Snippet)); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (a *app) hit(w io.Writer, h sessiondb.SearchHit) {
	head := fmt.Sprintf("%s  #%d", h.SessionID, h.MessageID)
	rest := fmt.Sprintf("  %s · %s · %s", h.Source, h.Role, term.Ago(a.now(), h.Timestamp))
	_, _ = fmt.Fprintln(w, a.Paint(term.Bold, term.Line(head))+a.Paint(term.Dim, term.Line(rest)))
	snippet := term.Line(h.Snippet)
	for _, line := range term.Wrap(snippet, a.Width-2) {
		_, _ = fmt.Fprintln(w, "  "+a.marks(line))
	}
}

// marks sets the matches of a snippet off. Without colour their marks stay.
func (a *app) marks(s string) string {
	if !a.Color {
		return s
	}
	return strings.NewReplacer(">>>", string(term.Yellow)+">>>", "<<<", "<<<\x1b[0m").Replace(s)
}
