package sessiondb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// UsageRow sums sessions under one key: a model, a source, or a day
// (YYYY-MM-DD, local time). The key is empty where a session has none, or a
// start that is no time.
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
	Tags          []string  // of the conversation of the session, which has all of them
	After, Before time.Time // by start of the session; After is included
}

// sane is a value that can be summed, else NULL: text in a column of numbers,
// an infinity, or what would overflow a sum is left out.
func sane(column string) string {
	return `CASE WHEN c.` + column + ` BETWEEN -1e12 AND 1e12 THEN c.` + column + ` END`
}

// usageSums are the columns that UsageRow.scanTargets reads.
var usageSums = `COUNT(*), SUM(` + sane("input_tokens") + `), SUM(` + sane("output_tokens") + `), SUM(` + sane("cache_read_tokens") +
	`), SUM(` + sane("cache_write_tokens") + `), SUM(` + sane("reasoning_tokens") + `), SUM(` + sane("api_call_count") +
	`), SUM(` + sane("estimated_cost_usd") + `), SUM(` + sane("actual_cost_usd") + `)`

func (r *UsageRow) scanTargets() []any {
	o := new(odd)
	t := &r.Tokens
	return []any{
		&r.Sessions, intColumn{"", &t.Input, o}, intColumn{"", &t.Output, o}, intColumn{"", &t.CacheRead, o},
		intColumn{"", &t.CacheWrite, o}, intColumn{"", &t.Reasoning, o}, intColumn{"", &r.APICalls, o},
		nullFloatColumn{"", &r.EstimatedCostUSD, o}, nullFloatColumn{"", &r.ActualCostUSD, o},
	}
}

// where is the filter as a condition on sessions c.
func (f UsageFilter) where(ctx context.Context, q engine.Queryer) (string, []any, error) {
	w, err := isTagged(ctx, q, f.Tags)
	w.add(`1 = 1`)
	cond, args := ` WHERE `+w.sql(), w.args
	if f.Source != "" {
		cond, args = cond+` AND c.source = ?`, append(args, f.Source)
	}
	if !f.After.IsZero() {
		cond, args = cond+` AND c.started_at >= ?`, append(args, epoch(f.After))
	}
	if !f.Before.IsZero() {
		cond, args = cond+` AND c.started_at < ?`, append(args, epoch(f.Before))
	}
	return cond, args, err
}

// UsageByModel sums by model, highest cost first: the actual cost where one is
// known, else the estimate; equal ones by tokens, then by key. A session that
// switched models counts for each of them, with what each has used.
func (db *DB) UsageByModel(ctx context.Context, f UsageFilter) (_ []UsageRow, err error) {
	defer wrap(&err, "usage by model")
	return db.usageBy(ctx, f, "model")
}

// UsageBySource sums by source, in the order of [DB.UsageByModel].
func (db *DB) UsageBySource(ctx context.Context, f UsageFilter) (_ []UsageRow, err error) {
	defer wrap(&err, "usage by source")
	return db.usageBy(ctx, f, "source")
}

func (db *DB) usageBy(ctx context.Context, f UsageFilter, column string) (out []UsageRow, err error) {
	err = db.readPast(ctx, func(q engine.Queryer) error {
		where, args, err := f.where(ctx, q)
		if err != nil {
			return err
		}
		out = nil
		err = eachRow(ctx, q, func(r engine.Rows) error {
			var u UsageRow
			err := r.Scan(append([]any{textColumn{"", &u.Key, new(odd)}}, u.scanTargets()...)...)
			out = append(out, u)
			return err
		}, `SELECT COALESCE(c.`+column+`, ''), `+usageSums+` FROM sessions c`+where+` GROUP BY COALESCE(c.`+column+`, '')`, args...)
		if err == nil && column == "model" {
			out, err = chargeModels(ctx, q, out, where, args)
		}
		return err
	})
	slices.SortFunc(out, func(a, b UsageRow) int {
		return cmp.Or(cmp.Compare(b.cost(), a.cost()), cmp.Compare(b.spoken(), a.spoken()), cmp.Compare(a.Key, b.Key))
	})
	return out, err
}

func (r *UsageRow) cost() float64 {
	switch {
	case r.ActualCostUSD != nil:
		return *r.ActualCostUSD
	case r.EstimatedCostUSD != nil:
		return *r.EstimatedCostUSD
	}
	return 0
}

func (r *UsageRow) spoken() int64 { return r.Tokens.Input + r.Tokens.Output }

// UsageByDay sums by the day a session started, latest first. Days are those
// of the local time zone; days without a session are left out.
func (db *DB) UsageByDay(ctx context.Context, f UsageFilter) (out []UsageRow, err error) {
	defer wrap(&err, "usage by day")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		d := days{q: q, zone: db.now().Location()}
		if d.where, d.args, err = f.where(ctx, q); err == nil {
			out, err = d.sum(ctx)
		}
		return err
	})
	return out, err
}

// days sums sessions by day. It asks the index for the newest start before the
// days it has, sums up that day, and goes on: SQL that every engine shares
// can't tell the days of a time zone.
type days struct {
	q     engine.Queryer
	zone  *time.Location
	where string
	args  []any
}

const (
	// farthestTime bounds the starts that are times (see timeColumn).
	farthestTime = 1e11

	noTimeSQL = ` AND (c.started_at IS NULL OR NOT (c.started_at > -1e11 AND c.started_at < 1e11))`
)

func (d *days) sum(ctx context.Context) ([]UsageRow, error) {
	out, err := d.oddStarts(ctx)
	if err != nil {
		return nil, err
	}
	for before := float64(farthestTime); ; {
		var newest *float64
		err := d.q.QueryRow(ctx, `SELECT MAX(c.started_at) FROM sessions c`+d.where+` AND c.started_at > -1e11 AND c.started_at < ?`,
			append(slices.Clone(d.args), before)...).Scan(&newest)
		if err != nil || newest == nil {
			return byDay(out), err
		}
		day := timeFromEpoch(*newest).In(d.zone)
		from := min(epoch(startOfDay(day)), *newest)
		row := UsageRow{Key: day.Format(time.DateOnly)}
		err = d.q.QueryRow(ctx, `SELECT `+usageSums+` FROM sessions c`+d.where+` AND c.started_at >= ? AND c.started_at < ?`,
			append(slices.Clone(d.args), from, before)...).Scan(row.scanTargets()...)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
		before = from
	}
}

// oddStarts sums the sessions whose start is no number, each under the day that
// its text tells, if it does.
func (d *days) oddStarts(ctx context.Context) (out []UsageRow, err error) {
	err = eachRow(ctx, d.q, func(r engine.Rows) error {
		var start time.Time
		var u UsageRow
		err := r.Scan(append([]any{timeColumn{"", &start, new(odd)}}, u.scanTargets()...)...)
		if !start.IsZero() {
			u.Key = start.In(d.zone).Format(time.DateOnly)
		}
		out = append(out, u)
		return err
	}, `SELECT c.started_at, `+usageSums+` FROM sessions c`+d.where+noTimeSQL+` GROUP BY c.started_at`, d.args...)
	return out, err
}

// startOfDay is midnight, or the first moment after it on a day that has none.
func startOfDay(t time.Time) time.Time {
	y, m, d := t.Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	for start.Day() != d {
		start = start.Add(time.Hour)
	}
	return start
}

// byDay orders rows latest day first and adds up those of one day.
func byDay(rows []UsageRow) (out []UsageRow) {
	slices.SortStableFunc(rows, func(a, b UsageRow) int { return cmp.Compare(b.Key, a.Key) })
	for _, r := range rows {
		if n := len(out); n > 0 && out[n-1].Key == r.Key {
			out[n-1].add(r)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (r *UsageRow) add(o UsageRow) {
	r.Sessions += o.Sessions
	r.APICalls += o.APICalls
	r.Tokens.add(o.Tokens, 1)
	r.EstimatedCostUSD = addCost(r.EstimatedCostUSD, o.EstimatedCostUSD, 1)
	r.ActualCostUSD = addCost(r.ActualCostUSD, o.ActualCostUSD, 1)
}

func (t *Tokens) add(o Tokens, times int64) {
	t.Input += times * o.Input
	t.Output += times * o.Output
	t.CacheRead += times * o.CacheRead
	t.CacheWrite += times * o.CacheWrite
	t.Reasoning += times * o.Reasoning
}

// addCost adds b, or takes it away; a cost that is not known adds nothing.
func addCost(a, b *float64, times float64) *float64 {
	if b == nil {
		return a
	}
	sum := times * *b
	if a != nil {
		sum += *a
	}
	return &sum
}

// TopSessions returns the sessions with the most input and output tokens, most
// first; equal ones by start, then by id, descending. Limit 0 means 20, a
// negative one none.
func (db *DB) TopSessions(ctx context.Context, f UsageFilter, limit int) (out []Session, err error) {
	defer wrap(&err, "top sessions")
	limit, _ = page(limit, 0)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		where, args, err := f.where(ctx, q)
		if err != nil {
			return err
		}
		query := `SELECT ` + selectColumns("c", sessionColumns) + ` FROM sessions c` + where + `
 ORDER BY COALESCE(` + sane("input_tokens") + `, 0) + COALESCE(` + sane("output_tokens") + `, 0) DESC, c.started_at DESC, c.id DESC`
		if limit > 0 {
			query, args = query+` LIMIT ?`, append(args, limit)
		}
		out, err = querySessions(ctx, q, query, args...)
		return err
	})
	return out, err
}
