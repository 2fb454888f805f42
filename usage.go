package sessiondb

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
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
// source "unknown". Counters and costs add, a NULL cost counting as 0; with
// Absolute they are set. A cost that is not given stays as it is. Cost status,
// cost source and pricing version take a new value; billing fields and the
// model are filled only while NULL: [DB.SetModel] records a switch. What is used
// with another model than the session's is charged to that one by
// [DB.UsageByModel]. A cost that is no finite number is [ErrInvalid].
func (db *DB) UpdateUsage(ctx context.Context, id string, u UsageUpdate) (err error) {
	defer wrap(&err, "update usage of %s", id)
	if err := u.check(); err != nil {
		return err
	}
	set, args := u.assignments()
	query, args := `UPDATE sessions SET `+set+` WHERE id = ?`, append(args, id)
	return db.writeAbout(ctx, func(tx engine.Execer) error {
		if err := chargeOtherModel(ctx, tx, id, u); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, query, args...)
		if err == nil && n > 0 && u.Absolute {
			err = fitCharges(ctx, tx, id)
		}
		if err != nil || n > 0 {
			return err
		}
		if err := checkID(id); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertSessionSQL, id, UnknownSource, nil, nil, nil, nil, nil, epoch(db.now()))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, query, args...)
		return err
	}, id)
}

func (u *UsageUpdate) check() error {
	for _, cost := range []*float64{u.EstimatedCostUSD, u.ActualCostUSD} {
		if cost != nil && (math.IsNaN(*cost) || math.IsInf(*cost, 0)) {
			return fmt.Errorf("%w: a cost of %v", ErrInvalid, *cost)
		}
	}
	return nil
}

// assignments is the SET clause of the update. It adds in SQL, so that
// concurrent updates lose nothing.
func (u *UsageUpdate) assignments() (string, []any) {
	var set []string
	var args []any
	assign := func(expr, column string, value any) {
		set = append(set, column+" = "+strings.ReplaceAll(expr, "$", column))
		args = append(args, value)
	}
	total := "COALESCE($, 0) + ?"
	if u.Absolute {
		total = "?"
	}
	t := u.Tokens
	assign(total, "input_tokens", t.Input)
	assign(total, "output_tokens", t.Output)
	assign(total, "cache_read_tokens", t.CacheRead)
	assign(total, "cache_write_tokens", t.CacheWrite)
	assign(total, "reasoning_tokens", t.Reasoning)
	assign(total, "api_call_count", u.APICalls)
	cost := func(column string, value *float64) {
		if value != nil {
			assign(total, column, *value)
		}
	}
	cost("estimated_cost_usd", u.EstimatedCostUSD)
	cost("actual_cost_usd", u.ActualCostUSD)
	text := func(expr, column string, value *string) {
		if value != nil {
			assign(expr, column, validText(*value))
		}
	}
	text("?", "cost_status", u.CostStatus)
	text("?", "cost_source", u.CostSource)
	text("?", "pricing_version", u.PricingVersion)
	const fill = "COALESCE($, NULLIF(?, ''))"
	text(fill, "model", u.Model)
	text(fill, "billing_provider", u.BillingProvider)
	text(fill, "billing_base_url", u.BillingBaseURL)
	text(fill, "billing_mode", u.BillingMode)
	return strings.Join(set, ", "), args
}
