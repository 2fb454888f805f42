package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

const usageRows = "a list of key, sessions, api_call_count, the token sums and the costs"

var usageMethods = []*Method{
	method(ReadsStore, "usage_by_model", "Sums tokens and costs by model, highest cost first.", usageRows, usage((*sessiondb.DB).UsageByModel)),
	method(ReadsStore, "usage_by_source", "Sums tokens and costs by source, highest cost first.", usageRows, usage((*sessiondb.DB).UsageBySource)),
	method(ReadsStore, "usage_by_day", "Sums tokens and costs by the day a session started, latest first.", usageRows,
		usage((*sessiondb.DB).UsageByDay)),
	method(ReadsStore, "top_sessions", "Returns the sessions with the most input and output tokens.", "a list of sessions",
		func(ctx context.Context, db *sessiondb.DB, p topParams) (any, error) {
			return list(db.TopSessions(ctx, p.filter(p.Tags), p.Limit))
		}),
}

type usageParams struct {
	Source string  `json:"source" doc:"only sessions of this source"`
	After  instant `json:"after" doc:"only sessions started then or later, seconds since 1970"`
	Before instant `json:"before" doc:"only sessions started earlier, seconds since 1970"`
}

func (p usageParams) filter(tags []string) sessiondb.UsageFilter {
	return sessiondb.UsageFilter{Source: p.Source, Tags: tags, After: p.After.Time, Before: p.Before.Time}
}

type sumParams struct {
	usageParams
	taggedParams
}

type topParams struct {
	usageParams
	Limit int `json:"limit" default:"10"`
	taggedParams
}

func usage(sum func(*sessiondb.DB, context.Context, sessiondb.UsageFilter) ([]sessiondb.UsageRow, error)) func(context.Context, *sessiondb.DB, sumParams) (any, error) {
	return func(ctx context.Context, db *sessiondb.DB, p sumParams) (any, error) {
		return list(sum(db, ctx, p.filter(p.Tags)))
	}
}
