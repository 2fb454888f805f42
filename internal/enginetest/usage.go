package enginetest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines that have none

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testUsage(t *testing.T, h *harness) {
	t.Run("running totals and differences agree", func(t *testing.T) { usageTotals(t, h) })
	t.Run("totals do not turn over", func(t *testing.T) { usageHuge(t, h) })
	t.Run("what is absent stays", func(t *testing.T) { usageAbsent(t, h) })
	t.Run("an unknown session is made", func(t *testing.T) { usageFirst(t, h) })
	t.Run("costs that are no number", func(t *testing.T) { usageInvalid(t, h) })
	t.Run("updates at the same time all count", func(t *testing.T) { usageConcurrent(t, h) })
	t.Run("totals by model and source", func(t *testing.T) { usageByKey(t, h) })
	t.Run("models that switch", func(t *testing.T) { usageSwitch(t, h) })
	t.Run("totals by day", func(t *testing.T) { usageByDay(t, h) })
	t.Run("top sessions", func(t *testing.T) { usageTop(t, h) })
	t.Run("busy hours and tools", func(t *testing.T) { usageOfMessages(t, h) })
}

func ptr[T any](v T) *T { return &v }

func usageTotals(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "absolute", "added")
	last := int64(0)
	for _, n := range []int64{1000, 2500, 5000} {
		at := func(n int64) sessiondb.UsageUpdate {
			return sessiondb.UsageUpdate{
				Tokens:   sessiondb.Tokens{Input: n, Output: 2 * n, CacheRead: 3 * n, CacheWrite: 4 * n, Reasoning: 5 * n},
				APICalls: n, EstimatedCostUSD: ptr(float64(n) / 4), ActualCostUSD: ptr(float64(n) / 8),
			}
		}
		whole := at(n)
		whole.Absolute = true
		noError(t, db.UpdateUsage(t.Context(), "absolute", whole))
		noError(t, db.UpdateUsage(t.Context(), "added", at(n-last)))
		last = n
	}
	want := sessiondb.Tokens{Input: 5000, Output: 10000, CacheRead: 15000, CacheWrite: 20000, Reasoning: 25000}
	for _, id := range []string{"absolute", "added"} {
		s := must[sessiondb.Session](t)(db.Session(t.Context(), id))
		if s.Usage != want || s.APICallCount != 5000 || *s.Billing.EstimatedCostUSD != 1250 || *s.Billing.ActualCostUSD != 625 {
			t.Errorf("%s: %+v, %d calls, %v and %v", id, s.Usage, s.APICallCount, *s.Billing.EstimatedCostUSD, *s.Billing.ActualCostUSD)
		}
	}
}

func usageHuge(t *testing.T, h *harness) {
	db, _ := h.store(t)
	for range 2 {
		noError(t, db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: math.MaxInt64}}))
	}
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); s.Usage.Input != math.MaxInt64 {
		t.Errorf("%d tokens", s.Usage.Input)
	}
}

func usageAbsent(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	update := func(u sessiondb.UsageUpdate) sessiondb.Session {
		t.Helper()
		noError(t, db.UpdateUsage(t.Context(), "a", u))
		return must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	}
	s := update(sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 1}})
	if s.Billing != (sessiondb.Billing{}) || s.Model != nil {
		t.Errorf("only tokens were given: %+v", s.Billing)
	}
	update(sessiondb.UsageUpdate{
		Model: text("m"), EstimatedCostUSD: ptr(2.0), CostStatus: text("estimated"), CostSource: text("table"), PricingVersion: text("1"),
		BillingProvider: text("p"), BillingBaseURL: text("u"), BillingMode: text("x"),
	})
	for _, absolute := range []bool{false, true} {
		s = update(sessiondb.UsageUpdate{Absolute: absolute})
		if *s.Billing.EstimatedCostUSD != 2 || s.Billing.ActualCostUSD != nil || *s.Billing.CostStatus != "estimated" {
			t.Errorf("absolute %v: nothing was given: %+v", absolute, s.Billing)
		}
	}
	s = update(sessiondb.UsageUpdate{
		Model: text("m2"), CostStatus: text("final"), CostSource: text("bill"), PricingVersion: text("2"),
		BillingProvider: text("p2"), BillingBaseURL: text("u2"), BillingMode: text("x2"),
	})
	got := fmt.Sprint(*s.Model, *s.Billing.Provider, *s.Billing.BaseURL, *s.Billing.Mode, *s.Billing.CostStatus, *s.Billing.CostSource, *s.Billing.PricingVersion)
	if want := fmt.Sprint("m", "p", "u", "x", "final", "bill", "2"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	noError(t, db.SetModel(t.Context(), "a", "m2"))
	if s = update(sessiondb.UsageUpdate{Model: text("m3")}); *s.Model != "m2" {
		t.Errorf("model %q after a switch", *s.Model)
	}
}

func usageFirst(t *testing.T, h *harness) {
	db, _ := h.store(t)
	noError(t, db.UpdateUsage(t.Context(), "g1", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Output: 7}, APICalls: 1}))
	s := must[sessiondb.Session](t)(db.Session(t.Context(), "g1"))
	if s.Source != "unknown" || !s.StartedAt.Equal(start) || s.Usage.Output != 7 || s.APICallCount != 1 {
		t.Errorf("got %+v", s)
	}
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "g1", Source: "telegram", Model: "m", UserID: "u", SystemPrompt: "p"}))
	s = must[sessiondb.Session](t)(db.Session(t.Context(), "g1"))
	if s.Source != "telegram" || *s.UserID != "u" || *s.SystemPrompt != "p" || s.Usage.Output != 7 {
		t.Errorf("created after its usage: %+v", s)
	}
	for _, id := range []string{"", "a\x00b", "a\nb"} {
		if err := db.UpdateUsage(t.Context(), id, sessiondb.UsageUpdate{}); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func usageInvalid(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	noError(t, db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{EstimatedCostUSD: ptr(1.0)}))
	for _, cost := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, u := range []sessiondb.UsageUpdate{{EstimatedCostUSD: &cost}, {ActualCostUSD: &cost}} {
			u.Tokens.Input = 1
			if err := db.UpdateUsage(t.Context(), "a", u); !errors.Is(err, sessiondb.ErrInvalid) {
				t.Errorf("cost %v: %v", cost, err)
			}
		}
	}
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); s.Usage.Input != 0 || *s.Billing.EstimatedCostUSD != 1 {
		t.Errorf("a refused update left %+v", s)
	}
}

func usageConcurrent(t *testing.T, h *harness) {
	db, _ := h.store(t)
	const workers, updates = 4, 10
	errs := make(chan error)
	for range workers {
		go func() {
			var err error
			for range updates {
				err = errors.Join(err, db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 1}, APICalls: 1, EstimatedCostUSD: ptr(0.5)}))
			}
			errs <- err
		}()
	}
	for range workers {
		noError(t, <-errs)
	}
	s := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	if n := int64(workers * updates); s.Usage.Input != n || s.APICallCount != n || *s.Billing.EstimatedCostUSD != float64(n)/2 {
		t.Errorf("got %+v, %d calls", s.Usage, s.APICallCount)
	}
}

// usageLines writes totals one a line: key, sessions, input tokens, costs.
func usageLines(rows []sessiondb.UsageRow) []string {
	cost := func(c *float64) string {
		if c == nil {
			return "-"
		}
		return fmt.Sprint(*c)
	}
	out := []string{}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s: %d sessions, %d tokens, %d calls, $%s $%s",
			r.Key, r.Sessions, r.Tokens.Input, r.APICalls, cost(r.EstimatedCostUSD), cost(r.ActualCostUSD)))
	}
	return out
}

func usageByKey(t *testing.T, h *harness) {
	db, c := h.store(t)
	for i, s := range []struct {
		source, model string
		estimated     *float64
	}{{"cli", "big", ptr(1.0)}, {"cli", "small", nil}, {"cron", "small", nil}, {"cron", "", nil}, {"telegram", "big", ptr(2.0)}} {
		id := must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{Source: s.source, Model: s.model}))
		noError(t, db.UpdateUsage(t.Context(), id, sessiondb.UsageUpdate{
			Tokens: sessiondb.Tokens{Input: int64(i + 1)}, APICalls: 1, EstimatedCostUSD: s.estimated,
		}))
		c.add(time.Hour)
	}
	check := func(rows []sessiondb.UsageRow, err error, want ...string) {
		t.Helper()
		noError(t, err)
		if d := cmp.Diff(want, usageLines(rows)); d != "" {
			t.Error(d)
		}
	}
	rows, err := db.UsageByModel(t.Context(), sessiondb.UsageFilter{})
	check(rows, err, "big: 2 sessions, 6 tokens, 2 calls, $3 $-", "small: 2 sessions, 5 tokens, 2 calls, $- $-", ": 1 sessions, 4 tokens, 1 calls, $- $-")
	rows, err = db.UsageBySource(t.Context(), sessiondb.UsageFilter{})
	check(rows, err, "telegram: 1 sessions, 5 tokens, 1 calls, $2 $-", "cli: 2 sessions, 3 tokens, 2 calls, $1 $-", "cron: 2 sessions, 7 tokens, 2 calls, $- $-")
	rows, err = db.UsageByModel(t.Context(), sessiondb.UsageFilter{Source: "cli"})
	check(rows, err, "big: 1 sessions, 1 tokens, 1 calls, $1 $-", "small: 1 sessions, 2 tokens, 1 calls, $- $-")
	rows, err = db.UsageBySource(t.Context(), sessiondb.UsageFilter{After: start.Add(time.Hour), Before: start.Add(3 * time.Hour)})
	check(rows, err, "cron: 1 sessions, 3 tokens, 1 calls, $- $-", "cli: 1 sessions, 2 tokens, 1 calls, $- $-")
	rows, err = db.UsageBySource(t.Context(), sessiondb.UsageFilter{Source: "none"})
	check(rows, err, []string{}...)
	sources, err := db.Sources(t.Context())
	noError(t, err)
	if d := cmp.Diff([]sessiondb.SourceCount{{Source: "cli", Sessions: 2}, {Source: "cron", Sessions: 2}, {Source: "telegram", Sessions: 1}}, sources); d != "" {
		t.Error(d)
	}
}

func usageByDay(t *testing.T, h *harness) {
	zone, err := time.LoadLocation("America/Sao_Paulo") // its summer time began at midnight
	noError(t, err)
	db, c := h.store(t)
	starts := []string{"2018-11-02 23:59:59", "2018-11-03 00:00:00", "2018-11-03 23:59:59", "2018-11-04 01:00:00", "2018-11-04 23:59:59", "2018-11-05 00:00:00", "2019-01-01 12:00:00"}
	for i, s := range starts {
		at, err := time.ParseInLocation(time.DateTime, s, zone)
		noError(t, err)
		c.set(at)
		h.sessions(t, db, fmt.Sprint("s", i))
		noError(t, db.UpdateUsage(t.Context(), fmt.Sprint("s", i), sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 1}}))
	}
	rows := must[[]sessiondb.UsageRow](t)(db.UsageByDay(t.Context(), sessiondb.UsageFilter{}))
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d", r.Key, r.Sessions))
	}
	if want := "2019-01-01 1,2018-11-05 1,2018-11-04 2,2018-11-03 2,2018-11-02 1"; strings.Join(got, ",") != want {
		t.Errorf("got %q", got)
	}
	if rows := must[[]sessiondb.UsageRow](t)(db.UsageByDay(t.Context(), sessiondb.UsageFilter{Source: "none"})); len(rows) != 0 {
		t.Errorf("of no source: %v", rows)
	}
}

func usageTop(t *testing.T, h *harness) {
	db, c := h.store(t)
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		h.sessions(t, db, id)
		noError(t, db.UpdateUsage(t.Context(), id, sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: int64(i / 2), Output: int64(i / 2), CacheRead: int64(100 - i)}}))
		c.add(time.Second)
	}
	top := func(limit int) (ids []string) {
		for _, s := range must[[]sessiondb.Session](t)(db.TopSessions(t.Context(), sessiondb.UsageFilter{}, limit)) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	if got := strings.Join(top(4), " "); got != "s24 s23 s22 s21" {
		t.Errorf("got %s", got)
	}
	if a, b := len(top(0)), len(top(-1)); a != 20 || b != 25 {
		t.Errorf("%d by default, %d without a limit", a, b)
	}
}

func usageSwitch(t *testing.T, h *harness) {
	db, _ := h.store(t)
	spend := func(model string, input int64, absolute bool) {
		t.Helper()
		noError(t, db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{
			Model: &model, Tokens: sessiondb.Tokens{Input: input}, EstimatedCostUSD: ptr(float64(input)), Absolute: absolute,
		}))
	}
	check := func(want map[string]int64) {
		t.Helper()
		got, cost := map[string]int64{}, 0.0
		for _, r := range must[[]sessiondb.UsageRow](t)(db.UsageByModel(t.Context(), sessiondb.UsageFilter{})) {
			got[r.Key] = r.Tokens.Input
			if float64(r.Tokens.Input) != *r.EstimatedCostUSD || r.Sessions != 1 {
				t.Errorf("%s: %d tokens, cost %v, %d sessions", r.Key, r.Tokens.Input, *r.EstimatedCostUSD, r.Sessions)
			}
			cost += *r.EstimatedCostUSD
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("want (-), got (+):\n%s", d)
		}
		if s := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); *s.Billing.EstimatedCostUSD != cost {
			t.Errorf("the session cost %v, its models %v", *s.Billing.EstimatedCostUSD, cost)
		}
	}
	spend("small", 1000, false)
	spend("large", 500, false)
	check(map[string]int64{"small": 1000, "large": 500})
	noError(t, db.SetModel(t.Context(), "a", "large"))
	check(map[string]int64{"small": 1000, "large": 500})
	spend("large", 200, false)
	spend("small", 2000, true) // 300 more in all
	check(map[string]int64{"small": 1300, "large": 700})
	noError(t, db.SetModel(t.Context(), "a", "small"))
	spend("small", 1, false)
	check(map[string]int64{"small": 1301, "large": 700})
	spend("small", 900, true) // counted anew: no model has used less than nothing
	check(map[string]int64{"small": 200, "large": 700})
	spend("large", 100, true)
	check(map[string]int64{"small": 0, "large": 100})
	spend("small", 1600, true)
	check(map[string]int64{"small": 1500, "large": 100})

	must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "a", sessiondb.DeleteOptions{}))
	spend("large", 3, false)
	check(map[string]int64{"large": 3})
}
