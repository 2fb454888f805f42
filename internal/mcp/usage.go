package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

const usageDoc = `Sums tokens and costs (US dollars) of conversations, by model, source, day or session.`

type usageParams struct {
	By     string `json:"by,omitempty" jsonschema:"what a row stands for" oneof:"model source day session" default:"\"model\""`
	Source string `json:"source,omitempty" jsonschema:"only conversations of this source"`
	After  string `json:"after,omitempty" jsonschema:"only conversations started then or later: 2026-01-31, or RFC 3339"`
	Before string `json:"before,omitempty" jsonschema:"only conversations started earlier"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most so many rows" range:"1 100" default:"20"`
}

type usageResult struct {
	By   string     `json:"by"`
	Rows []usageRow `json:"rows"`
	More int        `json:"more,omitempty" jsonschema:"how many rows were left out"`
}

type usageRow struct {
	Key              string   `json:"key" jsonschema:"the model, source or day, or the id of the session"`
	Title            string   `json:"title,omitempty"`
	Sessions         int64    `json:"sessions,omitempty"`
	APICalls         int64    `json:"api_calls"`
	Input            int64    `json:"input_tokens"`
	Output           int64    `json:"output_tokens"`
	CacheRead        int64    `json:"cache_read_tokens"`
	CacheWrite       int64    `json:"cache_write_tokens"`
	Reasoning        int64    `json:"reasoning_tokens"`
	EstimatedCostUSD *float64 `json:"estimated_cost_usd,omitempty"`
	ActualCostUSD    *float64 `json:"actual_cost_usd,omitempty"`
}

func (t tools) usage(ctx context.Context, p usageParams) (usageResult, error) {
	f, err := p.filter()
	if err != nil {
		return usageResult{}, err
	}
	var rows []sessiondb.UsageRow
	switch p.By {
	case "source":
		rows, err = t.db.UsageBySource(ctx, f)
	case "day":
		rows, err = t.db.UsageByDay(ctx, f)
	case "session":
		return t.topSessions(ctx, f, p.Limit)
	default:
		rows, err = t.db.UsageByModel(ctx, f)
	}
	out := usageResult{By: p.By, Rows: []usageRow{}, More: max(0, len(rows)-p.Limit)}
	for _, r := range rows[:min(p.Limit, len(rows))] {
		u := row(r.Key, r.Tokens, r.APICalls)
		u.Sessions, u.EstimatedCostUSD, u.ActualCostUSD = r.Sessions, r.EstimatedCostUSD, r.ActualCostUSD
		out.Rows = append(out.Rows, u)
	}
	return out, err
}

func (t tools) topSessions(ctx context.Context, f sessiondb.UsageFilter, limit int) (usageResult, error) {
	top, err := t.db.TopSessions(ctx, f, limit)
	out := usageResult{By: "session", Rows: []usageRow{}}
	for _, s := range top {
		u := row(s.ID, s.Usage, s.APICallCount)
		u.Title, u.EstimatedCostUSD, u.ActualCostUSD = deref(s.Title), s.Billing.EstimatedCostUSD, s.Billing.ActualCostUSD
		out.Rows = append(out.Rows, u)
	}
	return out, err
}

func row(key string, t sessiondb.Tokens, calls int64) usageRow {
	return usageRow{
		Key: key, APICalls: calls, Input: t.Input, Output: t.Output,
		CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Reasoning: t.Reasoning,
	}
}

func (p usageParams) filter() (sessiondb.UsageFilter, error) {
	after, err := when("after", p.After)
	if err != nil {
		return sessiondb.UsageFilter{}, err
	}
	before, err := when("before", p.Before)
	return sessiondb.UsageFilter{Source: p.Source, After: after, Before: before}, err
}

// when reads a time: a day, as the clock of this machine counts days, or RFC
// 3339.
func when(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, value, time.Local); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		err = fmt.Errorf("%s %q: it is a day such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z: %w", name, value, sessiondb.ErrInvalid)
	}
	return t, err
}
