package serve

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// usage is the page of tokens and costs.
type usage struct {
	Days    int // 0 for all time
	Source  string
	Sources []string
	tagFilter
	Total   sessiondb.UsageRow
	ByDay   []dayUsage
	Models  []share
	Origins []share
	Top     []sessiondb.Session
	Hours   sessiondb.WeekHours
	Tools   []sessiondb.ToolUse
}

// dayUsage is a day of a chart, also one without a session.
type dayUsage struct {
	Day string
	sessiondb.UsageRow
}

// share is a row of a table with a bar.
type share struct {
	sessiondb.UsageRow
	Part float64 // of the longest bar, from 0 to 1
}

const (
	usualDays   = 30
	topSessions = 10
	maxDays     = 36500
)

func (s *server) usage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	u := &usage{Days: usualDays, Source: q.Get("source"), tagFilter: tagFilter{Tags: givenTags(q["tag"])}}
	if n, err := strconv.Atoi(q.Get("days")); err == nil {
		u.Days = max(0, min(n, maxDays))
	}
	err := u.sum(r.Context(), s.db, s.now())
	if err == nil {
		u.Sources, err = sourceNames(r.Context(), s.db, u.Source)
	}
	if err == nil {
		err = u.offer(r.Context(), s.db)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "usage", view{Title: "Usage", Nav: "usage", Data: u})
}

func (u *usage) sum(ctx context.Context, db *sessiondb.DB, now time.Time) error {
	f := sessiondb.UsageFilter{Source: u.Source, Tags: u.Tags}
	if u.Days > 0 {
		y, m, d := now.Date()
		f.After = time.Date(y, m, d-u.Days+1, 0, 0, 0, 0, now.Location())
	}
	days, err := db.UsageByDay(ctx, f)
	if err != nil {
		return err
	}
	u.ByDay = everyDay(days, f.After, now)
	models, err := db.UsageByModel(ctx, f)
	if err != nil {
		return err
	}
	origins, err := db.UsageBySource(ctx, f)
	if err != nil {
		return err
	}
	u.Models, u.Origins = shares(models), shares(origins)
	u.Total = total(origins)
	if u.Top, err = db.TopSessions(ctx, f, topSessions); err != nil {
		return err
	}
	if u.Hours, err = db.MessagesByHour(ctx, f); err != nil {
		return err
	}
	u.Tools, err = db.ToolUses(ctx, f)
	return err
}

// everyDay puts the days, latest first, in the order of time, and between them
// those on which nothing happened.
func everyDay(rows []sessiondb.UsageRow, from, to time.Time) (out []dayUsage) {
	byDay := map[string]sessiondb.UsageRow{}
	for _, r := range rows {
		byDay[r.Key] = r
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r sessiondb.UsageRow) bool { return r.Key == "" })
	if len(rows) == 0 {
		return nil
	}
	if from.IsZero() {
		from, _ = time.ParseInLocation(time.DateOnly, rows[len(rows)-1].Key, to.Location())
		if last, err := time.ParseInLocation(time.DateOnly, rows[0].Key, to.Location()); err == nil {
			to = last
		}
	}
	y, m, d := from.Date()
	for i := range maxDays {
		day := time.Date(y, m, d+i, 12, 0, 0, 0, time.UTC).Format(time.DateOnly)
		if day > to.Format(time.DateOnly) {
			break
		}
		out = append(out, dayUsage{day, byDay[day]})
	}
	return out
}

func spoken(r sessiondb.UsageRow) int64 { return r.Tokens.Input + r.Tokens.Output }

// costOf is what was paid, where that is known, else what was estimated.
func costOf(actual, estimated *float64) float64 {
	switch {
	case actual != nil:
		return *actual
	case estimated != nil:
		return *estimated
	}
	return 0
}

func shares(rows []sessiondb.UsageRow) (out []share) {
	most := int64(1)
	for _, r := range rows {
		most = max(most, spoken(r))
	}
	for _, r := range rows {
		out = append(out, share{r, float64(spoken(r)) / float64(most)})
	}
	return out
}

func total(rows []sessiondb.UsageRow) (t sessiondb.UsageRow) {
	cost := 0.0
	for _, r := range rows {
		t.Sessions += r.Sessions
		t.APICalls += r.APICalls
		t.Tokens.Input += r.Tokens.Input
		t.Tokens.Output += r.Tokens.Output
		t.Tokens.CacheRead += r.Tokens.CacheRead
		t.Tokens.CacheWrite += r.Tokens.CacheWrite
		t.Tokens.Reasoning += r.Tokens.Reasoning
		cost += costOf(r.ActualCostUSD, r.EstimatedCostUSD)
	}
	t.ActualCostUSD = &cost
	return t
}
