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

// searchRequest is a query and how to show what it finds.
type searchRequest struct {
	sessiondb.SearchQuery
	grouped bool
	count   bool
	limited bool // a limit was given
}

func (a *app) searchCommand() *cobra.Command {
	var r searchRequest
	var sort string
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find messages",
		Long: `Find messages that hold all words of the query. "Quotes" make a phrase; OR, AND,
NOT in capitals, -word, (groups) and prefix* work; so do filters such as
source:telegram, role:user, after:2026-01-31. Nothing that is typed is an error.
Finding nothing is not a failure: the exit code is 0.`,
		Example: `  sessiondb search docker 배포
  sessiondb search '"connection refused" source:telegram after:30d'
  sessiondb search --grouped -- deploy -staging`,
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
				r.Sort = sessiondb.SearchSort(sort)
			}
			r.Text, r.limited = strings.Join(args, " "), cmd.Flags().Changed("limit")
			return a.read(cmd.Context(), func(db *sessiondb.DB) error { return a.search(cmd.Context(), db, r) })
		},
	}
	a.searchFlags(cmd, &r, &sort)
	return a.reading(cmd)
}

func (a *app) searchFlags(cmd *cobra.Command, r *searchRequest, sort *string) {
	fs := cmd.Flags()
	fs.StringSliceVar(&r.Sources, "source", nil, "only in sessions from `SOURCE`")
	fs.StringSliceVar(&r.ExcludeSources, "exclude-source", nil, "not in sessions from `SOURCE`")
	fs.StringSliceVar(&r.ExcludeSessions, "exclude-session", nil, "not in session `ID`; with --grouped, not in its whole conversation")
	fs.StringSliceVar(&r.Roles, "role", nil, "only messages of `ROLE` (user, assistant, tool)")
	fs.StringVar(sort, "sort", "rank", "order: rank, newest or oldest")
	fs.IntVar(&r.Limit, "limit", 20, "at most `N` hits, or with --grouped conversations (then 10 by default); 0 is no limit")
	fs.IntVar(&r.Offset, "offset", 0, "leave out the first `N` hits")
	fs.BoolVar(&r.Substring, "substring", false, "find the words inside other words too, such as getUserBy")
	fs.BoolVar(&r.grouped, "grouped", false, "one hit a conversation")
	fs.BoolVar(&r.count, "count", false, "print only how many messages match")
	a.tagFlag(cmd, &r.Tags)
	a.completeFlag(cmd, "sort", "rank", "newest", "oldest")
	a.completeFlag(cmd, "role", "user", "assistant", "tool", "system")
	a.completeSource(cmd, "source")
	a.completeSource(cmd, "exclude-source")
}

func (a *app) search(ctx context.Context, db *sessiondb.DB, r searchRequest) error {
	switch {
	case r.grouped && !r.limited:
		r.Limit = 0 // the library's own
	case r.Limit == 0:
		r.Limit = -1
	}
	switch {
	case r.count:
		return a.searchCount(ctx, db, r.SearchQuery)
	case r.grouped:
		return a.searchGrouped(ctx, db, r.SearchQuery)
	}
	found, err := db.Search(ctx, r.SearchQuery)
	if err != nil {
		return err
	}
	if past, err := a.pastEnd(ctx, db, r.SearchQuery, len(found.Hits)); past || err != nil {
		return err
	}
	a.tellReading(found.SearchReading, len(found.Hits))
	return printFound(a, found.Hits, a.hitTable, a.hit)
}

// printFound prints what a search found: as JSON, as a table to a pipe, or one
// after the other for a reader.
func printFound[T any](a *app, found []T, table func([]T) error, one func(io.Writer, T)) error {
	if a.json {
		return printJSON(a, found...)
	}
	if !a.OutTTY {
		return table(found)
	}
	w := bufio.NewWriter(a.Out)
	for i, f := range found {
		if i > 0 {
			_, _ = fmt.Fprintln(w)
		}
		one(w, f)
	}
	return w.Flush()
}

func (a *app) searchCount(ctx context.Context, db *sessiondb.DB, q sessiondb.SearchQuery) error {
	q.CountTotal, q.Limit, q.Offset = true, 1, 0
	found, err := db.Search(ctx, q)
	if err != nil {
		return err
	}
	a.tellReading(found.SearchReading, len(found.Hits))
	var total int64
	if found.Total != nil {
		total = *found.Total
	}
	if a.json {
		return printJSON(a, struct {
			Total      int64  `json:"total"`
			Understood string `json:"understood"`
		}{total, found.Understood})
	}
	_, err = fmt.Fprintln(a.Out, total)
	return err
}

// pastEnd says so where --offset leaves out all that a search finds.
func (a *app) pastEnd(ctx context.Context, db *sessiondb.DB, q sessiondb.SearchQuery, found int) (bool, error) {
	if found > 0 || q.Offset == 0 {
		return false, nil
	}
	offset := q.Offset
	q.CountTotal, q.Limit, q.Offset = true, 1, 0
	all, err := db.Search(ctx, q)
	if err != nil || all.Total == nil || *all.Total == 0 {
		return false, err
	}
	what := count(*all.Total, "message")
	a.note("--offset %d is past the end: %s found", offset, what)
	return true, nil
}

// tellReading tells what was not searched for and, where nothing was found, how
// the query was read and what would have matched.
func (a *app) tellReading(r sessiondb.SearchReading, hits int) {
	for _, n := range r.Notices {
		a.note("%s", n)
	}
	if hits > 0 {
		return
	}
	if r.Understood != "" {
		a.note("nothing found for %s (all of it has to be in one message)", r.Understood)
	} else if len(r.Notices) == 0 {
		a.note("nothing to search for")
	}
	for _, s := range r.Suggestions {
		switch {
		case s.Query != "":
			a.note("searching for %s finds %s", s.Query, count(s.Hits, "message"))
		case s.SessionID != "":
			a.note("a session is titled %q: sessiondb show %s", s.Title, s.SessionID)
		}
	}
}

func (a *app) hitTable(hits []sessiondb.SearchHit) error {
	t := a.NewTable(make([]term.Column, 6)...)
	for _, h := range hits {
		if err := t.Row(term.Text(h.SessionID), term.Alternatives("", fmt.Sprint(h.MessageID)), term.Time(a.now(), h.Timestamp),
			term.Text(h.Source), term.Text(h.Role), term.Text(strings.TrimSpace(h.Snippet))); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (a *app) hit(w io.Writer, h sessiondb.SearchHit) {
	a.headline(w, h.SessionID, fmt.Sprintf("%s · %s", h.Source, term.Ago(a.now(), h.Timestamp)))
	before, after := around(h)
	a.neighbour(w, before)
	a.snippet(w, h)
	a.neighbour(w, after)
}

// around returns the messages before and after a hit, nil where there is none
// or where it can't be told which of two is the hit.
func around(h sessiondb.SearchHit) (before, after *sessiondb.ContextMessage) {
	c := h.Context
	switch {
	case len(c) == 3:
		return &c[0], &c[2]
	case len(c) != 2 || c[0].Role == c[1].Role:
		return nil, nil
	case c[0].Role == h.Role:
		return nil, &c[1]
	}
	return &c[0], nil
}

func (a *app) neighbour(w io.Writer, c *sessiondb.ContextMessage) {
	if c != nil {
		_, _ = fmt.Fprintln(w, a.Paint(term.Dim, term.Cut(term.Line("  "+c.Role+": "+c.Content), a.Width)))
	}
}

func (a *app) snippet(w io.Writer, h sessiondb.SearchHit) {
	line := term.Line(fmt.Sprintf("#%d %s: %s", h.MessageID, h.Role, strings.TrimSpace(h.Snippet)))
	for _, part := range term.Wrap(line, a.Width-2) {
		_, _ = fmt.Fprintln(w, "  "+a.markMatches(part))
	}
}

// markMatches sets the matches of a snippet off. Without colour their marks stay.
func (a *app) markMatches(s string) string {
	if !a.Color {
		return s
	}
	return strings.NewReplacer(">>>", string(term.Yellow)+">>>", "<<<", "<<<\x1b[0m").Replace(s)
}
