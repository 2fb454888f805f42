package enginetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessiondb-go/sessiondb"
)

func testReplace(t *testing.T, h *harness) {
	t.Run("new for old", func(t *testing.T) { replaceAll(t, h) })
	t.Run("all or nothing", func(t *testing.T) { replaceNothing(t, h) })
	t.Run("rows that stay", func(t *testing.T) { replaceKeeps(t, h) })
	t.Run("order before ids", func(t *testing.T) { replaceOrder(t, h) })
	t.Run("changed in place", func(t *testing.T) { replaceEdits(t, h) })
	t.Run("ids of others", func(t *testing.T) { replaceForeignID(t, h) })
	t.Run("clear", func(t *testing.T) { clearMessages(t, h) })
}

func messages(t *testing.T, db *sessiondb.DB, id string) []sessiondb.Message {
	t.Helper()
	return must[[]sessiondb.Message](t)(db.Messages(t.Context(), id))
}

func replaceAll(t *testing.T, h *harness) {
	db, c := h.store(t)
	id, other := session(t, db, "a"), session(t, db, "b")
	old := say(t, db, id, "x", "y", "z")
	say(t, db, other, "kept")
	c.add(time.Hour)
	own := start.Add(-time.Hour)
	noError(t, db.ReplaceMessages(t.Context(), id, []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("one"), Reasoning: text("dropped"), ReasoningDetails: json.RawMessage(`[1]`)},
		{Role: "assistant", ToolCalls: json.RawMessage(`[1,2]`), ReasoningContent: text(""), CodexMessageItems: json.RawMessage(`[1]`)},
		{Role: "user", Content: sessiondb.Text("three"), Timestamp: own},
	}))
	want := []sessiondb.Message{
		{SessionID: id, Role: "user", Content: sessiondb.Text("one"), Timestamp: c.now()},
		{
			SessionID: id, Role: "assistant", ToolCalls: json.RawMessage(`[1,2]`), ReasoningContent: text(""),
			CodexMessageItems: json.RawMessage(`[1]`), Timestamp: c.now().Add(time.Microsecond),
		},
		{SessionID: id, Role: "user", Content: sessiondb.Text("three"), Timestamp: own},
	}
	got := messages(t, db, id)
	near := cmpopts.EquateApproxTime(500 * time.Nanosecond)
	if d := cmp.Diff(want, got, sameContent, near, cmpopts.IgnoreUnexported(sessiondb.Message{}), cmpopts.IgnoreFields(sessiondb.Message{}, "ID")); d != "" {
		t.Error(d)
	}
	if got[0].ID <= old[2] {
		t.Errorf("id %d was used before", got[0].ID)
	}
	if n := counters(t, db, id); n != [2]int64{3, 2} {
		t.Errorf("counters %v", n)
	}
	if d := cmp.Diff([]string{"kept"}, texts(messages(t, db, other))); d != "" {
		t.Errorf("other session: %s", d)
	}
}

func replaceNothing(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y")
	bad := []sessiondb.Message{{Role: "user", Content: sessiondb.Text("new")}, {Role: "assistant", ToolCalls: json.RawMessage(`[{`)}}
	if err := db.ReplaceMessages(t.Context(), id, bad); !errors.Is(err, sessiondb.ErrInvalid) {
		t.Errorf("malformed: %v", err)
	}
	for _, none := range []string{"none", "", "a\x00b"} {
		if err := db.ReplaceMessages(t.Context(), none, bad[:1]); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("%q: %v", none, err)
		}
	}
	if d := cmp.Diff([]string{"x", "y"}, texts(messages(t, db, id))); d != "" {
		t.Error(d)
	}
	if n := counters(t, db, id); n != [2]int64{2, 0} {
		t.Errorf("counters %v", n)
	}
	lone := []sessiondb.Message{{Role: "user", Content: sessiondb.Text("a")}, {Role: "user", Content: sessiondb.Text("b\xed\xb2\x97")}, {Role: "user", Content: sessiondb.Text("c")}}
	noError(t, db.ReplaceMessages(t.Context(), id, lone))
	if d := cmp.Diff([]string{"a", "b\uFFFD", "c"}, texts(messages(t, db, id))); d != "" {
		t.Error(d)
	}
}

func replaceKeeps(t *testing.T, h *harness) {
	db, c := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y")
	c.add(time.Minute)
	must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "assistant", ToolCalls: json.RawMessage(`[1]`), Reasoning: text("r")}))
	before := messages(t, db, id)
	c.add(time.Hour)
	untimed := before[2]
	untimed.Timestamp = time.Time{}
	noError(t, db.ReplaceMessages(t.Context(), id, []sessiondb.Message{before[0], untimed, {Role: "user", Content: sessiondb.Text("new")}}))
	got := messages(t, db, id)
	if d := cmp.Diff([]sessiondb.Message{before[0], before[2]}, got[:2], sameMessages); d != "" {
		t.Error(d)
	}
	if len(got) != 3 || got[2].ID <= before[2].ID || !got[2].Timestamp.After(c.now()) {
		t.Errorf("new message is %+v", got[2:])
	}
	if n := counters(t, db, id); n != [2]int64{3, 1} {
		t.Errorf("counters %v", n)
	}
	noError(t, db.ReplaceMessages(t.Context(), id, got))
	if d := cmp.Diff(got, messages(t, db, id), sameMessages); d != "" {
		t.Errorf("replaced by itself: %s", d)
	}
}

func replaceOrder(t *testing.T, h *harness) {
	db, c := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y", "z")
	before := messages(t, db, id)
	c.add(time.Hour)
	summary := sessiondb.Message{Role: "user", Content: sessiondb.Text("summary")}
	for _, c := range []struct {
		ms   []sessiondb.Message
		want []string
	}{
		{[]sessiondb.Message{summary, before[1], before[2]}, []string{"summary", "y", "z"}},
		{[]sessiondb.Message{before[2], before[1]}, []string{"z", "y"}},
	} {
		noError(t, db.ReplaceMessages(t.Context(), id, c.ms))
		got := messages(t, db, id)
		if d := cmp.Diff(c.want, texts(got)); d != "" {
			t.Error(d)
		}
		if last := got[len(got)-1]; !last.Timestamp.Equal(start) {
			t.Errorf("%q lost its time: %v", last.Content.PlainText(), last.Timestamp)
		}
	}
}

func replaceEdits(t *testing.T, h *harness) {
	db, c := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y")
	want := messages(t, db, id)
	c.add(time.Hour)
	want[1].Content = sessiondb.Text("edited")
	edit := want[1]
	edit.Timestamp = time.Time{}
	noError(t, db.ReplaceMessages(t.Context(), id, []sessiondb.Message{want[0], edit}))
	if d := cmp.Diff(want, messages(t, db, id), sameMessages); d != "" {
		t.Error(d)
	}
}

func replaceForeignID(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id, other := session(t, db, "a"), session(t, db, "b")
	say(t, db, id, "x")
	foreign := say(t, db, other, "theirs")[0]
	noError(t, db.ReplaceMessages(t.Context(), id, []sessiondb.Message{
		{ID: foreign, Role: "user", Content: sessiondb.Text("mine")},
		{ID: 1 << 40, Role: "user", Content: sessiondb.Text("too")},
	}))
	if d := cmp.Diff([]string{"theirs"}, texts(messages(t, db, other))); d != "" {
		t.Error(d)
	}
	got := messages(t, db, id)
	if d := cmp.Diff([]string{"mine", "too"}, texts(got)); d != "" || got[0].ID <= foreign || got[1].ID >= 1<<40 {
		t.Errorf("ids %d and %d, %s", got[0].ID, got[1].ID, d)
	}
}

func clearMessages(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	say(t, db, id, "x", "y")
	noError(t, db.ClearMessages(t.Context(), id))
	if got := messages(t, db, id); len(got) != 0 || counters(t, db, id) != [2]int64{} {
		t.Errorf("%d messages, counters %v", len(got), counters(t, db, id))
	}
	if err := db.ClearMessages(t.Context(), "none"); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
