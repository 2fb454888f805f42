package enginetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// usageOfMessages counts messages in a zone whose hours begin at a half.
func usageOfMessages(t *testing.T, h *harness) {
	zone, err := time.LoadLocation("Asia/Kolkata")
	noError(t, err)
	db, c := h.store(t)
	c.set(time.Date(2026, 5, 3, 23, 59, 59, 0, zone)) // a Sunday
	h.sessions(t, db, "a")
	_, err = db.CreateSession(t.Context(), sessiondb.NewSession{ID: "b", Source: "telegram"})
	noError(t, err)
	tool := func(session, at, name string) {
		t.Helper()
		when, err := time.ParseInLocation(time.DateTime, at, zone)
		noError(t, err)
		m := sessiondb.Message{Role: "tool", Timestamp: when}
		if name != "" {
			m.ToolName = &name
		}
		_, err = db.AppendMessage(t.Context(), session, m)
		noError(t, err)
	}
	tool("a", "2026-05-03 23:59:59", "read")
	tool("a", "2026-05-04 00:00:00", "read")
	tool("a", "2026-05-04 00:29:59", "write")
	tool("b", "2026-05-04 00:30:00", "ask")
	tool("b", "2026-05-11 00:59:59", "read")
	tool("b", "2026-05-11 01:00:00", "")
	all := must[sessiondb.WeekHours](t)(db.MessagesByHour(t.Context(), sessiondb.UsageFilter{}))
	want := sessiondb.WeekHours{}
	want[0][23], want[1][0], want[1][1] = 1, 4, 1
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("by hour:\n%s", diff)
	}
	// Of one source, from some moment on, up to another; weeks lie between.
	tool("b", "2024-02-05 10:00:00", "")
	some := must[sessiondb.WeekHours](t)(db.MessagesByHour(t.Context(), sessiondb.UsageFilter{
		Source: "telegram", After: time.Date(2024, 2, 5, 10, 0, 0, 0, zone), Before: time.Date(2026, 5, 11, 1, 0, 0, 0, zone),
	}))
	want = sessiondb.WeekHours{}
	want[1][0], want[1][10] = 2, 1
	if diff := cmp.Diff(want, some); diff != "" {
		t.Errorf("by hour, of telegram:\n%s", diff)
	}
	for _, w := range []struct {
		filter sessiondb.UsageFilter
		want   []sessiondb.ToolUse
	}{
		{sessiondb.UsageFilter{}, []sessiondb.ToolUse{{Name: "read", Answers: 3}, {Name: "ask", Answers: 1}, {Name: "write", Answers: 1}}},
		{sessiondb.UsageFilter{Source: "telegram"}, []sessiondb.ToolUse{{Name: "ask", Answers: 1}, {Name: "read", Answers: 1}}},
		{
			sessiondb.UsageFilter{After: time.Date(2026, 5, 4, 0, 0, 0, 0, zone), Before: time.Date(2026, 5, 4, 0, 30, 0, 0, zone)},
			[]sessiondb.ToolUse{{Name: "read", Answers: 1}, {Name: "write", Answers: 1}},
		},
	} {
		got := must[[]sessiondb.ToolUse](t)(db.ToolUses(t.Context(), w.filter))
		if diff := cmp.Diff(w.want, got); diff != "" {
			t.Errorf("%+v:\n%s", w.filter, diff)
		}
	}
}
