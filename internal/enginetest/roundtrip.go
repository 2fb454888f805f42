package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessiondb-go/sessiondb"
)

// roundTrips exports random sessions, imports them into another store, and
// exports again.
func roundTrips(t *testing.T, h *harness) {
	db, c := h.store(t)
	other, _ := h.store(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		f := sessiondb.ExportFilter{IDs: fill(t, r, db, c, n)}
		report := importLines(t, other, exportLines(t, db, f)...)
		if report.Failed != nil || report.Conflicts != nil || report.Changed != nil {
			r.Errorf("report %+v", report)
		}
		if d := cmp.Diff(exported(t, db, f), exported(t, other, f)); d != "" {
			r.Error(d)
		}
	})
}

var (
	words   = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "배포 🐈", "\x00json:[1]", "\x00", "a\nb\u2028", "<b>&\"\\", "\xff"}))
	maybe   = rapid.Ptr(words, true)
	objects = rapid.SampledFrom([]string{
		``, `null`, `[]`, `{}`, `[{"id":"a"},{"id":"b"}]`, `{"a":{"b":[1.50,-0,1e400]}}`, `"text"`, `"[1]"`, `true`, `["\u5e7f\ud800"]`,
	})
)

// fill makes sessions of all kinds, whose ids and titles end in a number.
func fill(t *testing.T, r *rapid.T, db *sessiondb.DB, c *clock, n int) (ids []string) {
	for i := range rapid.IntRange(1, 6).Draw(r, "sessions") {
		c.add(time.Duration(rapid.Int64Range(0, 1e12).Draw(r, "nanoseconds")))
		s := sessiondb.NewSession{
			ID: fmt.Sprint(rapid.StringMatching(`[a-z%_/]{1,4}`).Draw(r, "id"), i, ".", n), Source: words.Draw(r, "source"), Model: words.Draw(r, "model"),
			SystemPrompt: words.Draw(r, "prompt"), UserID: words.Draw(r, "user"), ModelConfig: json.RawMessage(objects.Draw(r, "config")),
		}
		if len(ids) > 0 && rapid.Bool().Draw(r, "child") {
			s.ParentID = rapid.SampledFrom(ids).Draw(r, "parent")
		}
		ids = append(ids, must[string](t)(db.CreateSession(t.Context(), s)))
		noError(t, db.SetTitle(t.Context(), s.ID, fmt.Sprint(rapid.SampledFrom([]string{"", "t#", "제목 "}).Draw(r, "title"), i, ".", n)))
		must[[]int64](t)(db.AppendMessages(t.Context(), s.ID, rapid.SliceOfN(rapid.Custom(randomMessage), 0, 5).Draw(r, "messages")))
		use(t, r, db, s.ID)
	}
	return ids
}

func randomMessage(r *rapid.T) sessiondb.Message {
	content := sessiondb.Content{}
	switch rapid.IntRange(0, 2).Draw(r, "content") {
	case 1:
		content = sessiondb.Text(words.Draw(r, "text"))
	case 2:
		content = sessiondb.Structured(json.RawMessage(objects.Draw(r, "parts")))
	}
	raw := func(name string) json.RawMessage { return json.RawMessage(objects.Draw(r, name)) }
	m := sessiondb.Message{
		Role: rapid.SampledFrom([]string{"user", "assistant", "tool", "system", "odd"}).Draw(r, "role"), Content: content,
		ToolCallID: maybe.Draw(r, "call"), ToolName: maybe.Draw(r, "tool"), TokenCount: rapid.Ptr(rapid.Int64(), true).Draw(r, "tokens"),
		FinishReason: maybe.Draw(r, "finish"), Reasoning: maybe.Draw(r, "reasoning"), ReasoningContent: maybe.Draw(r, "reasoning content"),
		ToolCalls: raw("calls"), ReasoningDetails: raw("details"), CodexReasoningItems: raw("items"), CodexMessageItems: raw("more items"),
	}
	if rapid.Bool().Draw(r, "dated") {
		m.Timestamp = time.Unix(rapid.Int64Range(-1e9, 9e9).Draw(r, "second"), rapid.Int64Range(0, 999999999).Draw(r, "nanosecond"))
	}
	return m
}

// use changes what a session has besides messages.
func use(t *testing.T, r *rapid.T, db *sessiondb.DB, id string) {
	ctx := t.Context()
	cost := rapid.Ptr(rapid.Float64Range(0, 1e9), true)
	noError(t, db.UpdateUsage(ctx, id, sessiondb.UsageUpdate{
		Tokens:   sessiondb.Tokens{Input: rapid.Int64Range(0, 1<<40).Draw(r, "input"), Reasoning: rapid.Int64Range(0, 9).Draw(r, "reasoning")},
		APICalls: rapid.Int64Range(0, 9).Draw(r, "calls"), EstimatedCostUSD: cost.Draw(r, "estimate"), ActualCostUSD: cost.Draw(r, "cost"),
		CostStatus: maybe.Draw(r, "status"), BillingProvider: maybe.Draw(r, "provider"), PricingVersion: maybe.Draw(r, "pricing"),
	}))
	if rapid.Bool().Draw(r, "ended") {
		noError(t, db.EndSession(ctx, id, rapid.SampledFrom([]string{"compression", "branched", "", "x"}).Draw(r, "reason")))
	}
	if rapid.Bool().Draw(r, "handoff") {
		must[bool](t)(db.RequestHandoff(ctx, id, words.Draw(r, "platform")))
		noError(t, db.FailHandoff(ctx, id, strings.Repeat(words.Draw(r, "error"), 3)))
	}
}
