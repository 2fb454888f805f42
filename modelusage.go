package sessiondb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// A session has one model and one set of totals. When it switches models, what
// each of the others has used is kept beside it, so that the totals are not
// charged to one alone: the model of the session is charged what is left.

var usageColumns = []string{
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
	"api_call_count", "estimated_cost_usd", "actual_cost_usd",
}

var modelUsageTable = addedTable{"sessiondb_model_usage", `CREATE TABLE IF NOT EXISTS sessiondb_model_usage (
    session_id TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    api_call_count BIGINT NOT NULL,
    estimated_cost_usd DOUBLE PRECISION,
    actual_cost_usd DOUBLE PRECISION,
    PRIMARY KEY (session_id, model)
)`}

var chargeSQL = func() string {
	var sums []string
	for _, c := range usageColumns {
		old := "sessiondb_model_usage." + c
		sums = append(sums, c+" = COALESCE("+old+" + excluded."+c+", "+old+", excluded."+c+")")
	}
	return `INSERT INTO sessiondb_model_usage (session_id, model, ` + strings.Join(usageColumns, ", ") + `)
 VALUES (?, ?, ` + placeholders(len(usageColumns)) + `)
 ON CONFLICT (session_id, model) DO UPDATE SET ` + strings.Join(sums, ", ")
}()

// charge adds what a model has used in a session.
func charge(ctx context.Context, tx engine.Execer, id string, u UsageRow) error {
	if err := modelUsageTable.make(ctx, tx); err != nil {
		return err
	}
	t := u.Tokens
	_, err := tx.Exec(ctx, chargeSQL, id, u.Key, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning,
		u.APICalls, floatOrNull(u.EstimatedCostUSD), floatOrNull(u.ActualCostUSD))
	return err
}

func floatOrNull(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

// chargeOtherModel keeps an update that names another model than the session's.
func chargeOtherModel(ctx context.Context, tx engine.Execer, id string, u UsageUpdate) error {
	if u.Model == nil || *u.Model == "" {
		return nil
	}
	old, err := sessionByID(ctx, tx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	model := validText(*u.Model)
	if err != nil || old.Model == nil || *old.Model == model {
		return err
	}
	row := UsageRow{Key: model, Tokens: u.Tokens, APICalls: u.APICalls, EstimatedCostUSD: u.EstimatedCostUSD, ActualCostUSD: u.ActualCostUSD}
	if u.Absolute {
		before := old.usage()
		if u.EstimatedCostUSD == nil {
			before.EstimatedCostUSD = nil
		}
		if u.ActualCostUSD == nil {
			before.ActualCostUSD = nil
		}
		row.subtract(before)
		row.limit(row) // where the totals became smaller, nothing is known to be used
	}
	return charge(ctx, tx, id, row)
}

// fitCharges makes what is kept of models fit totals that became smaller, as they do
// where a program counts anew: no model has used less than nothing.
func fitCharges(ctx context.Context, tx engine.Execer, id string) error {
	kept, err := modelUsage(ctx, tx, ` WHERE c.id = ?`, id)
	if err != nil || len(kept) == 0 {
		return err
	}
	s, err := sessionByID(ctx, tx, id)
	if err != nil {
		return err
	}
	left := s.usage()
	slices.SortFunc(kept, func(a, b otherUsage) int { return cmp.Compare(a.Key, b.Key) })
	for _, k := range kept {
		row := k.UsageRow
		row.limit(left)
		left.subtract(row)
		if _, err := tx.Exec(ctx, `DELETE FROM sessiondb_model_usage WHERE session_id = ? AND model = ?`, id, row.Key); err != nil {
			return err
		}
		if err := charge(ctx, tx, id, row); err != nil {
			return err
		}
	}
	return nil
}

// limit makes usage none below 0, and none above most.
func (r *UsageRow) limit(most UsageRow) {
	for i, n := range r.counters() {
		*n = max(0, min(*n, *most.counters()[i]))
	}
	for i, cost := range r.costs() {
		if at := *cost; at != nil {
			c := max(0, min(*at, orNone(*most.costs()[i])))
			*cost = &c
		}
	}
}

func (r *UsageRow) counters() []*int64 {
	t := &r.Tokens
	return []*int64{&t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &r.APICalls}
}

// orNone is a cost, 0 where there is none.
func orNone(cost *float64) float64 {
	if cost == nil {
		return 0
	}
	return *cost
}

func (r *UsageRow) costs() []**float64 { return []**float64{&r.EstimatedCostUSD, &r.ActualCostUSD} }

// chargeSoFar keeps what a session has used when it switches to another model.
func chargeSoFar(ctx context.Context, tx engine.Execer, s Session, model string) error {
	if s.Model == nil || *s.Model == "" || *s.Model == validText(model) || s.usage() == (UsageRow{}) {
		return nil
	}
	left := s.usage()
	others, err := modelUsage(ctx, tx, ` WHERE c.id = ?`, s.ID)
	if err != nil {
		return err
	}
	for _, o := range others {
		left.subtract(o.UsageRow)
	}
	left.Key = *s.Model
	return charge(ctx, tx, s.ID, left)
}

// usage is what a session has used, under no key.
func (s *Session) usage() UsageRow {
	return UsageRow{Tokens: s.Usage, APICalls: s.APICallCount, EstimatedCostUSD: s.Billing.EstimatedCostUSD, ActualCostUSD: s.Billing.ActualCostUSD}
}

// subtract takes usage away; the number of sessions stays.
func (r *UsageRow) subtract(o UsageRow) {
	r.Tokens.add(o.Tokens, -1)
	r.APICalls -= o.APICalls
	r.EstimatedCostUSD = addCost(r.EstimatedCostUSD, o.EstimatedCostUSD, -1)
	r.ActualCostUSD = addCost(r.ActualCostUSD, o.ActualCostUSD, -1)
}

// otherUsage is what a model has used in sessions whose model is now another,
// or this one again.
type otherUsage struct {
	UsageRow
	now string
}

// modelUsage sums what was kept for sessions c that the condition picks.
func modelUsage(ctx context.Context, q engine.Queryer, where string, args ...any) (out []otherUsage, err error) {
	if some, err := modelUsageTable.exists(ctx, q); err != nil || !some {
		return nil, err
	}
	sums := "COUNT(*)"
	for _, c := range usageColumns {
		sums += ", SUM(u." + c + ")"
	}
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var o otherUsage
		err := r.Scan(append([]any{&o.now, &o.Key}, o.scanTargets()...)...)
		out = append(out, o)
		return err
	}, `SELECT COALESCE(c.model, ''), u.model, `+sums+` FROM sessiondb_model_usage u JOIN sessions c ON c.id = u.session_id`+
		where+` GROUP BY COALESCE(c.model, ''), u.model`, args...)
	return out, err
}

// chargeModels moves usage from the models that sessions have now to those that
// used it.
func chargeModels(ctx context.Context, q engine.Queryer, rows []UsageRow, where string, args []any) ([]UsageRow, error) {
	others, err := modelUsage(ctx, q, where, args...)
	if err != nil || len(others) == 0 {
		return rows, err
	}
	at := func(key string) *UsageRow {
		for i := range rows {
			if rows[i].Key == key {
				return &rows[i]
			}
		}
		rows = append(rows, UsageRow{Key: key})
		return &rows[len(rows)-1]
	}
	for _, o := range others {
		at(o.now).subtract(o.UsageRow)
		if o.now == o.Key {
			o.Sessions = 0
		}
		at(o.Key).add(o.UsageRow)
	}
	return rows, nil
}
