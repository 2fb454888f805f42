package enginetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessiondb-go/sessiondb"
)

func testMessages(t *testing.T, h *harness) {
	t.Run("append counts", func(t *testing.T) { appendCounts(t, h) })
	t.Run("append keeps every field", func(t *testing.T) { appendKeeps(t, h) })
	t.Run("append to no session", func(t *testing.T) { appendUnknown(t, h) })
	t.Run("append what can't be", func(t *testing.T) { appendInvalid(t, h) })
	t.Run("append several", func(t *testing.T) { appendSeveral(t, h) })
	t.Run("append once", func(t *testing.T) { appendOnce(t, h) })
	t.Run("keys are forgotten", func(t *testing.T) { keysForgotten(t, h) })
	t.Run("content comes back", func(t *testing.T) { contentRoundTrip(t, h) })
	t.Run("invalid UTF-8", func(t *testing.T) { invalidUTF8(t, h) })
	t.Run("tool calls", func(t *testing.T) { toolCallList(t, h) })
	t.Run("messages come by id", func(t *testing.T) { messageOrder(t, h) })
}

var sameContent = cmp.Comparer(func(a, b sessiondb.Content) bool {
	return a.IsNull() == b.IsNull() && a.PlainText() == b.PlainText() && string(a.Parts()) == string(b.Parts())
})

// sameMessages compares messages, apart from what is not exported.
var sameMessages = cmp.Options{
	sameContent,
	cmp.Comparer(time.Time.Equal),
	cmpopts.IgnoreUnexported(sessiondb.Message{}),
}

// session creates a session and returns its id.
func session(t *testing.T, db *sessiondb.DB, id string) string {
	t.Helper()
	return must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}))
}

// say appends plain messages, roles taking turns.
func say(t *testing.T, db *sessiondb.DB, id string, texts ...string) (ids []int64) {
	t.Helper()
	for i, s := range texts {
		role := []string{"user", "assistant"}[i%2]
		ids = append(ids, must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: role, Content: sessiondb.Text(s)})))
	}
	return ids
}

// counters are message_count and tool_call_count of a session.
func counters(t *testing.T, db *sessiondb.DB, id string) [2]int64 {
	t.Helper()
	s := must[sessiondb.Session](t)(db.Session(t.Context(), id))
	return [2]int64{s.MessageCount, s.ToolCallCount}
}

func appendCounts(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	for _, c := range []struct {
		calls string
		want  [2]int64
	}{
		{"", [2]int64{1, 0}}, {"null", [2]int64{2, 0}}, {"[]", [2]int64{3, 0}}, {"{}", [2]int64{4, 0}},
		{`[{"id":"x"},{"id":"y"}]`, [2]int64{5, 2}}, {`{"id":"z"}`, [2]int64{6, 3}}, {`"odd"`, [2]int64{7, 4}},
	} {
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "assistant", ToolCalls: json.RawMessage(c.calls)}))
		if got := counters(t, db, id); got != c.want {
			t.Errorf("after %s: %v, want %v", c.calls, got, c.want)
		}
	}
}

func appendKeeps(t *testing.T, h *harness) {
	db, c := h.store(t)
	id := session(t, db, "a")
	c.add(time.Second)
	n := int64(7)
	full := sessiondb.Message{
		Role: "assistant", Content: sessiondb.Text("hello"), ToolCallID: text("call_1"),
		ToolCalls: json.RawMessage(`[{"id":"call_1"}]`), ToolName: text("terminal"), TokenCount: &n, FinishReason: text("stop"),
		Reasoning: text("hm"), ReasoningContent: text(""), ReasoningDetails: json.RawMessage(`{"a":[1]}`),
		CodexReasoningItems: json.RawMessage(`["x"]`), CodexMessageItems: json.RawMessage(`[2]`),
	}
	dated := sessiondb.Message{Role: "user", Content: sessiondb.Text(""), Timestamp: start.Add(-time.Hour + 250*time.Millisecond)}
	full.ID = must[int64](t)(db.AppendMessage(t.Context(), id, full))
	dated.ID = must[int64](t)(db.AppendMessage(t.Context(), id, dated))
	bare := sessiondb.Message{ID: must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "tool"})), Role: "tool"}
	full.Timestamp, bare.Timestamp = c.now(), c.now()
	want := []sessiondb.Message{full, dated, bare}
	for i := range want {
		want[i].SessionID = id
	}
	got := must[[]sessiondb.Message](t)(db.Messages(t.Context(), id))
	if d := cmp.Diff(want, got, sameMessages); d != "" {
		t.Error(d)
	}
}

func appendUnknown(t *testing.T, h *harness) {
	db, _ := h.store(t)
	for _, id := range []string{"none", "", "a\x00b", "../x", strings.Repeat("i", 300), "bad \xff"} {
		_, err := db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: sessiondb.Text("x")})
		if !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := db.AppendMessages(t.Context(), id, []sessiondb.Message{{Role: "user"}}); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if n := must[int64](t)(db.MessageCount(t.Context(), "")); n != 0 {
		t.Errorf("%d messages", n)
	}
	if n := must[int64](t)(db.SessionCount(t.Context(), "")); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

func appendInvalid(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	for name, m := range map[string]sessiondb.Message{
		"no role":     {Content: sessiondb.Text("x")},
		"tool calls":  {Role: "assistant", ToolCalls: json.RawMessage(`[{`)},
		"details":     {Role: "assistant", ReasoningDetails: json.RawMessage(`nope`)},
		"structured":  {Role: "user", Content: sessiondb.Structured(json.RawMessage(`[1,`))},
		"codex items": {Role: "user", CodexMessageItems: json.RawMessage(`NaN`)},
	} {
		if _, err := db.AppendMessage(t.Context(), id, m); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		good := sessiondb.Message{Role: "user", Content: sessiondb.Text("good")}
		if _, err := db.AppendMessages(t.Context(), id, []sessiondb.Message{good, m}); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("%s among others: %v", name, err)
		}
	}
	if got := counters(t, db, id); got != [2]int64{} {
		t.Errorf("counters %v", got)
	}
}

func appendSeveral(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	ids := must[[]int64](t)(db.AppendMessages(t.Context(), id, []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("one")},
		{Role: "assistant", ToolCalls: json.RawMessage(`[1,2,3]`)},
		{Role: "tool", Content: sessiondb.Text("three"), Timestamp: start.Add(-time.Minute)},
	}))
	got := must[[]sessiondb.Message](t)(db.Messages(t.Context(), id))
	if len(ids) != 3 || len(got) != 3 {
		t.Fatalf("ids %v, %d messages", ids, len(got))
	}
	for i, m := range got {
		if m.ID != ids[i] {
			t.Errorf("message %d has id %d, returned %d", i, m.ID, ids[i])
		}
	}
	if d := got[1].Timestamp.Sub(start); d < 500*time.Nanosecond || d > 1500*time.Nanosecond {
		t.Errorf("second message %v after now", d)
	}
	if got := counters(t, db, id); got != [2]int64{3, 3} {
		t.Errorf("counters %v", got)
	}
	if ids := must[[]int64](t)(db.AppendMessages(t.Context(), id, nil)); len(ids) != 0 {
		t.Errorf("ids of nothing: %v", ids)
	}
}

func contentRoundTrip(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	str := func(s string) sessiondb.Content { return sessiondb.Text(s) }
	parts := func(s string) sessiondb.Content { return sessiondb.Structured(json.RawMessage(s)) }
	for i, c := range []struct{ in, want sessiondb.Content }{
		{sessiondb.Content{}, sessiondb.Content{}},
		{str(""), str("")},
		{str("a\x00b\x00"), str("a\x00b\x00")},
		{str("\x00"), str("\x00")},
		{str("\x00json:[1,2]"), str("\x00json:[1,2]")},
		{str("\x00json:"), str("\x00json:")},
		{str("\x00json:\"x\""), str("\x00json:\"x\"")},
		{str(`[1,2]`), str(`[1,2]`)},
		{str("배포 🐈 مرحبا"), str("배포 🐈 مرحبا")},
		{str(strings.Repeat("long ", 1<<18)), str(strings.Repeat("long ", 1<<18))},
		{parts(`[ ]`), parts(`[]`)},
		{parts(`{"a": "\u5e7f\u897f", "a": 1.0}`), parts(`{"a":"广西","a":1.0}`)},
		{parts(`[{"type":"text","text":"\u0000\u001b"}]`), parts(`[{"type":"text","text":"\u0000\u001b"}]`)},
		{parts(`"just text"`), str("just text")},
		{parts(`"\u0000json:[1]"`), str("\x00json:[1]")},
		{parts(`42`), parts(`42`)},
		{parts(`null`), sessiondb.Content{}},
		{parts(``), sessiondb.Content{}},
	} {
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: c.in}))
		ms := must[[]sessiondb.Message](t)(db.Messages(t.Context(), id))
		if d := cmp.Diff(c.want, ms[i].Content, sameMessages); d != "" {
			t.Errorf("content %d: %s", i, d)
		}
	}
}

func invalidUTF8(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	const bad, good = "x\xed\xb2\x97y", "x\uFFFDy"
	must[[]int64](t)(db.AppendMessages(t.Context(), id, []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("before")},
		{
			Role: bad, Content: sessiondb.Text(bad), ToolCallID: text(bad), ToolName: text(bad), FinishReason: text(bad),
			Reasoning: text(bad), ReasoningContent: text(bad), ToolCalls: json.RawMessage(`["` + bad + `","\udc97"]`),
		},
		{Role: "user", Content: sessiondb.Structured(json.RawMessage(`["\ud800","` + bad + `"]`))},
	}))
	ms := must[[]sessiondb.Message](t)(db.Messages(t.Context(), id))
	m := ms[1]
	for name, s := range map[string]string{
		"role": m.Role, "content": m.Content.PlainText(), "tool_call_id": *m.ToolCallID, "tool_name": *m.ToolName,
		"finish_reason": *m.FinishReason, "reasoning": *m.Reasoning, "reasoning_content": *m.ReasoningContent,
	} {
		if s != good {
			t.Errorf("%s is %q", name, s)
		}
	}
	var calls []string
	noError(t, json.Unmarshal(m.ToolCalls, &calls))
	for _, s := range append(calls, strings.Fields(ms[2].Content.PlainText())...) {
		if strings.Trim(s, "xy\uFFFD") != "" || !strings.Contains(s, "\uFFFD") {
			t.Errorf("JSON string is %q", s)
		}
	}
}

func toolCallList(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	for _, calls := range []string{``, `[{"id":"\u5e7f"}, {"id":"b"}]`, `{"id":"solo"}`} {
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "assistant", ToolCalls: json.RawMessage(calls)}))
	}
	var got [][]string
	for _, m := range must[[]sessiondb.Message](t)(db.Messages(t.Context(), id)) {
		var list []string
		for _, c := range m.ToolCallList() {
			list = append(list, string(c))
		}
		got = append(got, list)
	}
	if d := cmp.Diff([][]string{nil, {`{"id":"广"}`, `{"id":"b"}`}, {`{"id":"solo"}`}}, got); d != "" {
		t.Error(d)
	}
	if list := (sessiondb.Message{ToolCalls: json.RawMessage("not json")}).ToolCallList(); len(list) != 0 {
		t.Errorf("malformed: %q", list)
	}
}

func messageOrder(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id, other := session(t, db, "a"), session(t, db, "b")
	for i, s := range []string{"one", "two", "three", "four"} {
		m := sessiondb.Message{Role: "user", Content: sessiondb.Text(s), Timestamp: start.Add(-time.Duration(i/2) * time.Hour)}
		must[int64](t)(db.AppendMessage(t.Context(), id, m))
		say(t, db, other, "in between")
	}
	var got []string
	for _, m := range must[[]sessiondb.Message](t)(db.Messages(t.Context(), id)) {
		got = append(got, m.Content.PlainText())
	}
	if d := cmp.Diff([]string{"one", "two", "three", "four"}, got); d != "" {
		t.Error(d)
	}
	if ms := must[[]sessiondb.Message](t)(db.Messages(t.Context(), "none")); len(ms) != 0 {
		t.Errorf("unknown session has %d messages", len(ms))
	}
}
