package sessiondb

import (
	"context"
	"time"
)

// UsageUpdate adds to, or with Absolute sets, what a session has used. Nil
// means absent: it changes nothing.
type UsageUpdate struct {
	Tokens           Tokens
	APICalls         int64
	Model            *string
	EstimatedCostUSD *float64
	ActualCostUSD    *float64
	CostStatus       *string
	CostSource       *string
	PricingVersion   *string
	BillingProvider  *string
	BillingBaseURL   *string
	BillingMode      *string
	Absolute         bool
}

// UpdateUsage records tokens and cost; an unknown session is made, with the
// source "unknown". Counters and the estimated cost add (a NULL cost counts as
// 0), the actual cost adds when given; with Absolute they are set. Cost status,
// cost source and pricing version take a new value; billing fields and the
// model are filled only while NULL.
func (db *DB) UpdateUsage(ctx context.Context, id string, u UsageUpdate) error { panic("todo") }

// UsageRow sums sessions under one key: a model, a source, or a day
// (YYYY-MM-DD, local time).
type UsageRow struct {
	Key              string
	Sessions         int64
	Tokens           Tokens
	APICalls         int64
	EstimatedCostUSD *float64 // nil where no session has one
	ActualCostUSD    *float64
}

// UsageFilter narrows usage totals. The zero value takes every session.
type UsageFilter struct {
	Source        string
	After, Before time.Time // by start of the session
}

// UsageByModel sums by model, highest cost first.
func (db *DB) UsageByModel(ctx context.Context, f UsageFilter) ([]UsageRow, error) { panic("todo") }

// UsageBySource sums by source, highest cost first.
func (db *DB) UsageBySource(ctx context.Context, f UsageFilter) ([]UsageRow, error) { panic("todo") }

// UsageByDay sums by the day a session started, latest first.
func (db *DB) UsageByDay(ctx context.Context, f UsageFilter) ([]UsageRow, error) { panic("todo") }

// TopSessions returns the sessions with the most input and output tokens.
func (db *DB) TopSessions(ctx context.Context, f UsageFilter, limit int) ([]Session, error) {
	panic("todo")
}
