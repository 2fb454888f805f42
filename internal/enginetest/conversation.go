package enginetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testConversation(t *testing.T, h *harness) {
	t.Run("chat form", func(t *testing.T) { chatForm(t, h) })
	t.Run("recalled memory", func(t *testing.T) { recalledMemory(t, h) })
	t.Run("ancestors", func(t *testing.T) { withAncestors(t, h) })
	t.Run("a delegate among what its parent said", func(t *testing.T) { delegateAmongParent(t, h) })
	t.Run("repeated questions", func(t *testing.T) { repeatedQuestions(t, h) })
	t.Run("of no session", func(t *testing.T) {
		db, _ := h.store(t)
		if got := chat(t, db, "none", true); len(got) != 0 {
			t.Errorf("got %s", got)
		}
	})
}

// chat is a conversation, a line of JSON a message.
func chat(t *testing.T, db *sessiondb.DB, id string, ancestors bool) []string {
	t.Helper()
	var out []string
	for _, m := range must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), id, ancestors)) {
		out = append(out, string(must[[]byte](t)(json.Marshal(m))))
	}
	return out
}

// said is chat without all but role and content.
func said(t *testing.T, db *sessiondb.DB, id string) []string {
	t.Helper()
	var out []string
	for _, m := range must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), id, true)) {
		out = append(out, m.Role+" "+strings.Trim(string(m.Content), `"`))
	}
	return out
}

func chatForm(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	calls := json.RawMessage(`[{"id":"c1","function":{"name":"f","arguments":"{}"}}]`)
	thought := sessiondb.Message{
		ToolCalls: calls, FinishReason: text("tool_calls"), Reasoning: text("hm"), ReasoningContent: text(""),
		ReasoningDetails: json.RawMessage(`[1]`), CodexReasoningItems: json.RawMessage(`[{"id":"r"}]`), CodexMessageItems: json.RawMessage(`["m"]`),
	}
	assistant, user := thought, thought
	assistant.Role, user.Role = "assistant", "user"
	must[[]int64](t)(db.AppendMessages(t.Context(), id, []sessiondb.Message{
		{Role: "system", Content: sessiondb.Text(" kept as it is ")},
		{Role: "user", Content: sessiondb.Structured(json.RawMessage(`[{"type":"text","text":"\u5e7f"}]`))},
		assistant, user,
		{Role: "tool", Content: sessiondb.Text("out"), ToolCallID: text("c1"), ToolName: text("f")},
		{Role: "assistant", Content: sessiondb.Text("done"), ReasoningDetails: json.RawMessage(`"plain"`)},
	}))
	want := []string{
		`{"role":"system","content":" kept as it is "}`,
		`{"role":"user","content":[{"type":"text","text":"广"}]}`,
		`{"role":"assistant","content":null,"tool_calls":` + string(calls) + `,"finish_reason":"tool_calls","reasoning":"hm",` +
			`"reasoning_content":"","reasoning_details":[1],"codex_reasoning_items":[{"id":"r"}],"codex_message_items":["m"]}`,
		`{"role":"user","content":null,"tool_calls":` + string(calls) + `}`,
		`{"role":"tool","content":"out","tool_call_id":"c1","tool_name":"f"}`,
		`{"role":"assistant","content":"done","reasoning_details":"plain"}`,
	}
	if d := cmp.Diff(want, chat(t, db, id, false)); d != "" {
		t.Error(d)
	}
}

func recalledMemory(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "a")
	const recalled = "<memory-context>secret</memory-context> what now? "
	for _, role := range []string{"user", "assistant", "system", "tool"} {
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: role, Content: sessiondb.Text(recalled)}))
	}
	got := said(t, db, id)
	if d := cmp.Diff([]string{"user what now?", "assistant what now?"}, got[:2]); d != "" {
		t.Error(d)
	}
	for _, s := range got[2:] {
		if !strings.Contains(s, "secret") || !strings.HasSuffix(s, " ") {
			t.Errorf("changed: %q", s)
		}
	}
	if ms := must[[]sessiondb.Message](t)(db.Messages(t.Context(), id)); ms[0].Content.PlainText() != recalled {
		t.Errorf("the message itself is %q", ms[0].Content.PlainText())
	}
}

func withAncestors(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "one", "two", "three")
	say(t, db, "three", "5", "6")
	say(t, db, "one", "1", "2")
	say(t, db, "two", "3", "4")
	want := []string{"user 1", "assistant 2", "user 3", "assistant 4", "user 5", "assistant 6"}
	if d := cmp.Diff(want, said(t, db, "three")); d != "" {
		t.Errorf("not root first: %s", d)
	}
	if d := cmp.Diff(want[:2], said(t, db, "one")); d != "" {
		t.Error(d)
	}
	if got := chat(t, db, "three", false); len(got) != 2 {
		t.Errorf("without ancestors: %s", got)
	}
}

func delegateAmongParent(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "parent")
	say(t, db, "parent", "ask")
	c.add(time.Second)
	h.child(t, db, "parent", "delegate", "subagent")
	say(t, db, "delegate", "task", "result")
	must[int64](t)(db.AppendMessage(t.Context(), "parent", sessiondb.Message{Role: "assistant", Content: sessiondb.Text("answer")}))
	if d := cmp.Diff([]string{"user ask", "user task", "assistant result", "assistant answer"}, said(t, db, "delegate")); d != "" {
		t.Error(d)
	}
}

func repeatedQuestions(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "one", "two")
	put := func(id, role, s string, calls string) {
		must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: role, Content: sessiondb.Text(s), ToolCalls: json.RawMessage(calls)}))
	}
	put("one", "user", "a", "")
	put("one", "user", "b", "")
	put("one", "assistant", "", "") // says nothing
	put("two", "user", "a", "")     // dropped
	put("two", "user", "", "")
	put("two", "user", "", "")
	put("two", "assistant", "", `[{"id":"x"}]`)
	put("two", "user", "a", "") // asked anew
	put("two", "assistant", "yes", "")
	put("two", "user", "a", "")
	want := []string{"user a", "user b", "assistant ", "user ", "user ", "assistant ", "user a", "assistant yes", "user a"}
	if d := cmp.Diff(want, said(t, db, "two")); d != "" {
		t.Error(d)
	}
}
