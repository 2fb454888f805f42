package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testFork(t *testing.T, h *harness) {
	t.Run("a live session", func(t *testing.T) { forkLive(t, h) })
	t.Run("a part of a chain", func(t *testing.T) { forkChain(t, h) })
	t.Run("a session that branched", func(t *testing.T) { forkBranched(t, h) })
	t.Run("ending the parent", func(t *testing.T) { forkEnding(t, h) })
	t.Run("between a call and its results", func(t *testing.T) { forkCalls(t, h) })
	t.Run("what can't be forked", func(t *testing.T) { forkErrors(t, h) })
	t.Run("a fork outlives its parent", func(t *testing.T) { forkOrphan(t, h) })
	t.Run("a fork of a fork", func(t *testing.T) { forkTwice(t, h) })
}

// talk appends messages with a time of their own and returns their ids.
func talk(t *testing.T, db *sessiondb.DB, id string, texts ...string) (ids []int64) {
	t.Helper()
	for i, s := range texts {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		ids = append(ids, must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{
			Role: role, Content: sessiondb.Text(s), Timestamp: start.Add(time.Duration(i) * time.Second)})))
	}
	return ids
}

// wordsOf is what the messages of a session say.
func wordsOf(t *testing.T, db *sessiondb.DB, id string) string {
	t.Helper()
	var out []string
	for _, m := range must[[]sessiondb.Message](t)(db.Messages(t.Context(), id)) {
		out = append(out, m.Content.PlainText())
	}
	return strings.Join(out, " ")
}

// tree is the lineage of a session.
func tree(t *testing.T, db *sessiondb.DB, id string) string {
	t.Helper()
	var out []string
	for _, n := range must[[]sessiondb.LineageNode](t)(db.Lineage(t.Context(), id)) {
		out = append(out, fmt.Sprintf("%d %s %s", n.Depth, n.ID, n.Kind))
	}
	return strings.Join(out, ",")
}

func wantTree(t *testing.T, db *sessiondb.DB, id, want string) {
	t.Helper()
	if got := tree(t, db, id); got != want {
		t.Errorf("lineage of %s: %q, want %q", id, got, want)
	}
}

func forkLive(t *testing.T, h *harness) {
	db, c := h.store(t)
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "telegram", Model: "m", ModelConfig: []byte(`{"k":1}`), SystemPrompt: "be brief", UserID: "u"}))
	noError(t, db.SetTitle(t.Context(), "a", "plan"))
	noError(t, db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 100}, APICalls: 1}))
	ids := talk(t, db, "a", "one", "two", "three", "four")
	before := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	c.add(time.Minute)

	s := must[sessiondb.Session](t)(db.Fork(t.Context(), "a", ids[1], sessiondb.ForkOptions{ID: "f"}))
	if s.ID != "f" || s.Source != "telegram" || *s.Model != "m" || string(s.ModelConfig) != `{"k":1}` || *s.SystemPrompt != "be brief" || *s.UserID != "u" ||
		*s.Title != "plan #2" || s.MessageCount != 2 || s.ToolCallCount != 0 || s.Usage != (sessiondb.Tokens{}) || s.APICallCount != 0 ||
		!s.StartedAt.Equal(c.now()) || !s.EndedAt.IsZero() {
		t.Errorf("the fork is %+v", s)
	}
	ms := must[[]sessiondb.Message](t)(db.Messages(t.Context(), "f"))
	if got := wordsOf(t, db, "f"); got != "one two" || !ms[1].Timestamp.Equal(start.Add(time.Second)) || ms[0].ID <= ids[3] {
		t.Errorf("the fork says %q: %+v", got, ms)
	}
	if after := must[sessiondb.Session](t)(db.Session(t.Context(), "a")); !after.EndedAt.IsZero() || after.MessageCount != before.MessageCount || *after.Title != "plan" {
		t.Errorf("the parent is %+v", after)
	}
	wantListed(t, db, "a f", "a f")
	wantTree(t, db, "a", "0 a root,1 f branch")
	wantTree(t, db, "f", "0 a root,1 f branch")
	if up := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "f")); len(up) != 1 || up[0].ID != "a" {
		t.Errorf("ancestors %v", up)
	}
	if e := must[sessiondb.ExportedSession](t)(db.ExportSession(t.Context(), "f")); e.Kind != sessiondb.Branch {
		t.Errorf("exported as %s", e.Kind)
	}
	found := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: "two"}))
	if len(found.Hits) != 2 {
		t.Errorf("%d hits", len(found.Hits))
	}
	// The parent goes on and is compressed: the fork is no part of that.
	noError(t, db.EndSession(t.Context(), "a", "compression"))
	c.add(time.Second)
	h.child(t, db, "a", "b", "cli")
	talk(t, db, "b", "five")
	if tip := must[string](t)(db.CompressionTip(t.Context(), "a")); tip != "b" {
		t.Errorf("tip %s", tip)
	}
	wantListed(t, db, "b f", "a b f")
}

func forkChain(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	first := talk(t, db, "a", "one", "two", "three")
	c.add(time.Second)
	noError(t, db.EndSession(t.Context(), "a", "compression"))
	h.child(t, db, "a", "b", "cli")
	second := talk(t, db, "b", "summary", "four")
	c.add(time.Minute)
	must[sessiondb.Session](t)(db.Fork(t.Context(), "b", first[0], sessiondb.ForkOptions{ID: "f"}))
	must[sessiondb.Session](t)(db.Fork(t.Context(), "a", second[0], sessiondb.ForkOptions{ID: "g"}))
	must[sessiondb.Session](t)(db.Fork(t.Context(), "b", 0, sessiondb.ForkOptions{ID: "i"}))
	if wordsOf(t, db, "f") != "one" || wordsOf(t, db, "g") != "summary" || wordsOf(t, db, "i") != "summary four" {
		t.Errorf("forks say %q, %q, %q", wordsOf(t, db, "f"), wordsOf(t, db, "g"), wordsOf(t, db, "i"))
	}
	wantListed(t, db, "b f g i", "a b f g i")
	wantTree(t, db, "g", "0 a root,1 b continuation,2 g branch,2 i branch,1 f branch")
	if tip := must[string](t)(db.CompressionTip(t.Context(), "a")); tip != "b" {
		t.Errorf("tip %s", tip)
	}
	// What came before the parent is not in the fork; what the parent said is.
	var all []string
	for _, m := range must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "g", true)) {
		all = append(all, string(m.Content))
	}
	if got := strings.Join(all, " "); got != `"one" "two" "three" "summary"` {
		t.Errorf("with ancestors: %s", got)
	}
}

func forkBranched(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	ids := talk(t, db, "a", "one", "two")
	c.add(time.Second)
	h.branch(t, db, c, "a", "b")
	c.add(time.Minute)
	s := must[sessiondb.Session](t)(db.Fork(t.Context(), "a", ids[0], sessiondb.ForkOptions{ID: "f"}))
	if s.ParentID == nil || *s.ParentID != "a" {
		t.Errorf("the parent is %v", s.ParentID)
	}
	wantListed(t, db, "a b f", "a b f")
	wantTree(t, db, "f", "0 a root,1 b branch,1 f branch")
	if ms := must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "f", true)); len(ms) != 1 {
		t.Errorf("%d messages with ancestors", len(ms))
	}
}

func forkEnding(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a", "b")
	talk(t, db, "a", "one")
	talk(t, db, "b", "two")
	noError(t, db.EndSession(t.Context(), "b", "user_exit"))
	c.add(time.Minute)
	s := must[sessiondb.Session](t)(db.Fork(t.Context(), "a", 0, sessiondb.ForkOptions{ID: "f", EndParent: true}))
	g := must[sessiondb.Session](t)(db.Fork(t.Context(), "b", 0, sessiondb.ForkOptions{ID: "g", EndParent: true}))
	a := must[sessiondb.Session](t)(db.Session(t.Context(), "a"))
	b := must[sessiondb.Session](t)(db.Session(t.Context(), "b"))
	if s.ParentID == nil || *a.EndReason != "branched" || g.ParentID != nil || *b.EndReason != "user_exit" {
		t.Errorf("parents %v, %v; ended %s, %s", s.ParentID, g.ParentID, *a.EndReason, *b.EndReason)
	}
	wantListed(t, db, "a b f g", "a b f g")
	wantTree(t, db, "f", "0 a root,1 f branch")
	wantTree(t, db, "g", "0 b root,1 g branch")
}

func forkCalls(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	id := func(s string) *string { return &s }
	ids := must[[]int64](t)(db.AppendMessages(t.Context(), "a", []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("go")},
		{Role: "assistant", ToolCalls: []byte(`[{"id":"1"},{"id":"2"}]`)},
		{Role: "tool", ToolCallID: id("2"), Content: sessiondb.Text("r2")},
		{Role: "tool", ToolCallID: id("1"), Content: sessiondb.Text("r1")},
		{Role: "assistant", Content: sessiondb.Text("done")},
		{Role: "assistant", ToolCalls: []byte(`[{"id":"3"},{"id":"4"}]`)},
		{Role: "tool", ToolCallID: id("3"), Content: sessiondb.Text("r3")},
	}))
	for i, want := range map[int]int64{0: 1, 1: 4, 2: 4, 3: 4, 4: 5} {
		s := must[sessiondb.Session](t)(db.Fork(t.Context(), "a", ids[i], sessiondb.ForkOptions{ID: fmt.Sprint("f", i)}))
		calls := int64(0)
		if i > 0 {
			calls = 2
		}
		if s.MessageCount != want || s.ToolCallCount != calls {
			t.Errorf("at message %d: %d messages, %d calls", i, s.MessageCount, s.ToolCallCount)
		}
	}
	for _, i := range []int{5, 6} {
		if _, err := db.Fork(t.Context(), "a", ids[i], sessiondb.ForkOptions{ID: "none"}); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("at message %d: %v", i, err)
		}
	}
	if n := must[int64](t)(db.SessionCount(t.Context(), "")); n != 6 {
		t.Errorf("%d sessions", n)
	}
}

func forkErrors(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a", "b", "empty")
	talk(t, db, "a", "one")
	other := talk(t, db, "b", "two")
	for _, f := range []struct {
		id   string
		at   int64
		o    sessiondb.ForkOptions
		want error
	}{
		{"none", 1, sessiondb.ForkOptions{}, sessiondb.ErrNotFound},
		{"a", other[0], sessiondb.ForkOptions{}, sessiondb.ErrNotFound},
		{"a", 1 << 40, sessiondb.ForkOptions{}, sessiondb.ErrNotFound},
		{"a", -1, sessiondb.ForkOptions{}, sessiondb.ErrNotFound},
		{"empty", 0, sessiondb.ForkOptions{}, sessiondb.ErrInvalid},
		{"a", 0, sessiondb.ForkOptions{ID: "b"}, sessiondb.ErrExists},
		{"a", 0, sessiondb.ForkOptions{ID: "\n"}, sessiondb.ErrInvalid},
	} {
		if _, err := db.Fork(t.Context(), f.id, f.at, f.o); !errors.Is(err, f.want) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	wantListed(t, db, "a b empty", "a b empty")
}

func forkOrphan(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	talk(t, db, "a", "one")
	must[sessiondb.Session](t)(db.Fork(t.Context(), "a", 0, sessiondb.ForkOptions{ID: "f"}))
	remove(t, db, "a", sessiondb.DeleteOptions{})
	wantListed(t, db, "f", "f")
	wantTree(t, db, "f", "0 f root")
	c.add(time.Second)
	remove(t, db, "f", sessiondb.DeleteOptions{})
	h.sessions(t, db, "a", "f")
	wantTree(t, db, "f", "0 f root")
}

func forkTwice(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	talk(t, db, "a", "one", "two")
	noError(t, db.SetTitle(t.Context(), "a", "plan"))
	c.add(time.Second)
	must[sessiondb.Session](t)(db.Fork(t.Context(), "a", 0, sessiondb.ForkOptions{ID: "f"}))
	s := must[sessiondb.Session](t)(db.Fork(t.Context(), "f", 0, sessiondb.ForkOptions{ID: "g"}))
	if *s.Title != "plan #3" {
		t.Errorf("title %q", *s.Title)
	}
	h.child(t, db, "g", "helper", "subagent")
	wantTree(t, db, "f", "0 a root,1 f branch,2 g branch,3 helper delegate")
	if up := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "helper")); len(up) != 3 || up[0].ID != "a" {
		t.Errorf("ancestors %v", up)
	}
	noError(t, db.EndSession(t.Context(), "g", "x"))
}
