package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) usageCommand() *cobra.Command {
	var by, after, before string
	var limit int
	var f sessiondb.UsageFilter
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Sum tokens and costs by model, source or day, or show the top sessions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.After, err = a.when("after", after); err != nil {
				return err
			}
			if f.Before, err = a.when("before", before); err != nil {
				return err
			}
			if err := oneOf("by", by, "model", "source", "day", "top"); err != nil {
				return err
			}
			if limit == 0 {
				limit = -1
			}
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				if by == "top" {
					return a.topSessions(ctx, db, f, limit)
				}
				return a.usage(ctx, db, by, f)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&by, "by", "model", "what to sum by: model, source or day; or top, the sessions with the most tokens")
	fs.StringVar(&f.Source, "source", "", "only sessions from `SOURCE`")
	fs.StringVar(&after, "after", "", "only sessions that started after `WHEN`: 2026-01-31, or 7d ago")
	fs.StringVar(&before, "before", "", "only sessions that started before `WHEN`")
	fs.IntVar(&limit, "limit", 10, "with --by top: at most `N` sessions; 0 is no limit")
	a.tagFlag(cmd, &f.Tags)
	a.completeFlag(cmd, "by", "model", "source", "day", "top")
	a.completeSource(cmd, "source")
	return a.reading(cmd)
}

func (a *app) usage(ctx context.Context, db *sessiondb.DB, by string, f sessiondb.UsageFilter) error {
	sums := map[string]func(context.Context, sessiondb.UsageFilter) ([]sessiondb.UsageRow, error){
		"model": db.UsageByModel, "source": db.UsageBySource, "day": db.UsageByDay,
	}
	rows, err := sums[by](ctx, f)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, rows...)
	}
	cols := append([]term.Column{{Name: by, Min: 16}, {Name: "sessions", Right: true, Drop: 1}}, tokenColumns...)
	t := a.NewTable(cols...)
	for _, r := range rows {
		key := r.Key
		if key == "" {
			key = "?"
		}
		cells := append([]term.Cell{term.Alternatives(key, r.Key), term.Int(r.Sessions)},
			tokenCells(r.Tokens, r.APICalls, r.EstimatedCostUSD, r.ActualCostUSD)...)
		if err := t.Row(cells...); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (a *app) topSessions(ctx context.Context, db *sessiondb.DB, f sessiondb.UsageFilter, limit int) error {
	rows, err := db.TopSessions(ctx, f, limit)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, rows...)
	}
	cols := append([]term.Column{{Name: "id"}, {Name: "title", Min: 16, Drop: 2}, {Name: "model", Min: 12, Drop: 3}}, tokenColumns...)
	t := a.NewTable(cols...)
	for _, s := range rows {
		cells := append([]term.Cell{term.Text(s.ID), term.Text(deref(s.Title)), term.Text(deref(s.Model))},
			tokenCells(s.Usage, s.APICallCount, s.Billing.EstimatedCostUSD, s.Billing.ActualCostUSD)...)
		if err := t.Row(cells...); err != nil {
			return err
		}
	}
	return t.Flush()
}

var tokenColumns = []term.Column{
	{Name: "input", Right: true},
	{Name: "output", Right: true},
	{Name: "cache read", Right: true, Drop: 5},
	{Name: "cache write", Right: true, Drop: 6},
	{Name: "reasoning", Right: true, Drop: 7},
	{Name: "calls", Right: true, Drop: 8},
	{Name: "estimated", Right: true},
	{Name: "actual", Right: true, Drop: 4},
}

func tokenCells(t sessiondb.Tokens, calls int64, estimated, actual *float64) []term.Cell {
	return []term.Cell{
		term.Int(t.Input), term.Int(t.Output), term.Int(t.CacheRead), term.Int(t.CacheWrite), term.Int(t.Reasoning),
		term.Int(calls), term.Money(estimated), term.Money(actual),
	}
}
