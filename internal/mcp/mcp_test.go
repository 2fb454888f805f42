package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func store(t *testing.T) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func create(t *testing.T, db *sessiondb.DB, n sessiondb.NewSession, texts ...string) (ids []int64) {
	t.Helper()
	if _, err := db.CreateSession(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		id, err := db.AppendMessage(t.Context(), n.ID, sessiondb.Message{Role: []string{"user", "assistant"}[i%2], Content: sessiondb.Text(text)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// client speaks to a server over pipes, as a real one does.
func client(t *testing.T, db *sessiondb.DB, o mcp.Options) *sdk.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := mcp.Serve(context.WithoutCancel(t.Context()), db, inR, outW, o)
		_ = outW.Close()
		ended <- err
	}()
	c := connect(t, &sdk.IOTransport{Reader: outR, Writer: inW})
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	return c
}

func connect(t *testing.T, tr sdk.Transport) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is what the tests look at of any tool's answer.
type answer struct {
	Conversations []struct {
		Tags                 []string
		SessionID            string `json:"session_id"`
		MessageID            int64  `json:"message_id"`
		Resume               string `json:"resume_session_id"`
		Snippet              string
		Hits                 int64
		Begins, Around, Ends []message
	}
	TotalHits  int64  `json:"total_hits"`
	Understood string `json:"understood"`
	Notices    []string
	Try        []any `json:"try_instead"`
	Window     *struct {
		Messages []message
		Before   bool `json:"more_before"`
		After    bool `json:"more_after"`
	}
	Sessions []struct {
		ID    string `json:"session_id"`
		Title string
		Tags  []string
	}
	Session struct {
		Title  string
		Tags   []string
		Reason string `json:"end_reason"`
	}
	Messages  []message
	MessageID int64 `json:"message_id"`
	Rows      []struct {
		Key    string
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
	Next string `json:"next_cursor"`
}

type message struct {
	ID        int64 `json:"message_id"`
	Text      string
	ToolCalls []string `json:"tool_calls"`
	Length    int
	Hit       bool
}

func texts(ms []message) (out []string) {
	for _, m := range ms {
		out = append(out, m.Text)
	}
	return out
}

func call(t *testing.T, c *sdk.ClientSession, tool string, args map[string]any) (a answer) {
	t.Helper()
	r := result(t, c, tool, args)
	if r.IsError {
		t.Fatalf("%s %v: %s", tool, args, r.Content[0].(*sdk.TextContent).Text)
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	var same any
	if text := r.Content[0].(*sdk.TextContent).Text; json.Unmarshal([]byte(text), &same) != nil || !cmp.Equal(same, r.StructuredContent) {
		t.Errorf("%s: the text %s is not the structured answer %s", tool, text, raw)
	}
	return a
}

func result(t *testing.T, c *sdk.ClientSession, tool string, args map[string]any) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	return r
}

func TestToolsOffered(t *testing.T) {
	reading := []string{"session_list", "session_read", "session_search", "session_usage"}
	for _, write := range []bool{false, true} {
		want := slices.Clone(reading)
		if write {
			want = append(want, "session_append", "session_end", "session_tag", "session_title")
		}
		got := map[string]bool{}
		for tool, err := range client(t, store(t), mcp.Options{AllowWrite: write}).Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			got[tool.Name] = true
			if reads := slices.Contains(reading, tool.Name); tool.Annotations.ReadOnlyHint != reads || tool.Description == "" {
				t.Errorf("%s: %+v", tool.Name, tool.Annotations)
			}
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("with writes %v: -want +got\n%s", write, diff)
		}
	}
}

func TestSearch(t *testing.T) {
	db := store(t)
	ids := create(t, db, sessiondb.NewSession{ID: "old", Source: "cli"}, "begin", "a", "b", "c", "d", "e", "f", "don't panic, docker 배포", "g")
	create(t, db, sessiondb.NewSession{ID: "own", Source: "cron"}, "docker here too")
	c := client(t, db, mcp.Options{})

	a := call(t, c, "session_search", map[string]any{"query": "don't 배포"})
	if len(a.Conversations) != 1 || a.TotalHits != 1 || a.Next != "" {
		t.Fatalf("%+v", a)
	}
	hit := a.Conversations[0]
	if hit.SessionID != "old" || hit.Resume != "old" || hit.MessageID != ids[7] || hit.Hits != 1 || hit.Snippet != ">>>don't<<< panic, docker >>>배포<<<" {
		t.Errorf("%+v", hit)
	}
	if diff := cmp.Diff([][]string{{"begin", "a"}, {"b", "c", "d", "e", "f", "don't panic, docker 배포", "g"}, nil},
		[][]string{texts(hit.Begins), texts(hit.Around), texts(hit.Ends)}); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !hit.Around[5].Hit || hit.Around[4].Hit {
		t.Errorf("the hit is not marked: %+v", hit.Around)
	}

	sessions := func(args map[string]any) (out []string, next string) {
		a := call(t, c, "session_search", args)
		for _, h := range a.Conversations {
			out = append(out, h.SessionID)
		}
		return out, a.Next
	}
	for name, w := range map[string]struct {
		args map[string]any
		want []string
	}{
		"own left out":    {map[string]any{"query": "docker", "current_session_id": "own"}, []string{"old"}},
		"source left out": {map[string]any{"query": "docker", "exclude_sources": []string{"cron"}}, []string{"old"}},
		"one source":      {map[string]any{"query": "docker", "sources": []string{"cron"}}, []string{"own"}},
		"newest":          {map[string]any{"query": "docker", "sort": "newest"}, []string{"own", "old"}},
		"in a session":    {map[string]any{"query": "docker", "session_id": "ol"}, []string{"old"}},
		"nothing":         {map[string]any{"query": "submarine"}, nil},
		"an odd query":    {map[string]any{"query": `"' OR ( : ` + "\x00"}, nil},
	} {
		if got, next := sessions(w.args); !slices.Equal(got, w.want) || next != "" {
			t.Errorf("%s: %v, %q, want %v", name, got, next, w.want)
		}
	}
	first, next := sessions(map[string]any{"query": "docker", "sort": "oldest", "limit": 1})
	second, end := sessions(map[string]any{"query": "docker", "sort": "oldest", "limit": 1, "cursor": next})
	if got := append(first, second...); !slices.Equal(got, []string{"old", "own"}) || end != "" {
		t.Errorf("by pages: %v, %q", got, end)
	}
	if a := call(t, c, "session_search", map[string]any{"query": "docker submarine"}); len(a.Try) == 0 || a.Understood == "" {
		t.Errorf("nothing is said about a query that finds nothing: %+v", a)
	}
}

func TestScroll(t *testing.T) {
	db := store(t)
	ids := create(t, db, sessiondb.NewSession{ID: "a"}, "0", "1", "2", "3", "4", "5", "6")
	c := client(t, db, mcp.Options{})
	for _, w := range []struct {
		at            int
		want          []string
		before, after bool
	}{
		{0, []string{"0", "1", "2"}, false, true},
		{2, []string{"0", "1", "2", "3", "4"}, false, true},
		{3, []string{"1", "2", "3", "4", "5"}, true, true},
		{4, []string{"2", "3", "4", "5", "6"}, true, false},
		{6, []string{"4", "5", "6"}, true, false},
	} {
		a := call(t, c, "session_search", map[string]any{"session_id": "a", "message_id": ids[w.at], "window": 2})
		if got := texts(a.Window.Messages); !slices.Equal(got, w.want) || a.Window.Before != w.before || a.Window.After != w.after {
			t.Errorf("around %d: %v, %v, %v", w.at, got, a.Window.Before, a.Window.After)
		}
	}
}

func TestListAndRecent(t *testing.T) {
	db := store(t)
	for _, id := range []string{"a", "b", "c"} {
		create(t, db, sessiondb.NewSession{ID: id, Source: "s" + id}, "hello")
	}
	c := client(t, db, mcp.Options{})
	ids := func(a answer) (out []string) {
		for _, s := range a.Sessions {
			out = append(out, s.ID)
		}
		return out
	}
	first := call(t, c, "session_list", map[string]any{"limit": 2})
	second := call(t, c, "session_list", map[string]any{"limit": 2, "cursor": first.Next})
	if got := append(ids(first), ids(second)...); !slices.Equal(got, []string{"c", "b", "a"}) || second.Next != "" {
		t.Errorf("by pages: %v, %q", got, second.Next)
	}
	if got := ids(call(t, c, "session_list", map[string]any{"source": "sb"})); !slices.Equal(got, []string{"b"}) {
		t.Errorf("of a source: %v", got)
	}
	if got := ids(call(t, c, "session_search", map[string]any{"current_session_id": "c"})); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("recent: %v", got)
	}
}

// However long a session and its messages are, an answer is not, and all of it
// can be read.
func TestReadIsBounded(t *testing.T) {
	db := store(t)
	long := strings.Repeat("가나다라", 20_000)
	all := make([]string, 120)
	for i := range all {
		all[i] = strings.Repeat("x", 3000)
	}
	all[7] = long
	ids := create(t, db, sessiondb.NewSession{ID: "a"}, all...)
	c := client(t, db, mcp.Options{})

	var read []int64
	for args := map[string]any{"session_id": "a", "limit": 100}; ; {
		r := result(t, c, "session_read", args)
		if raw, _ := json.Marshal(r.StructuredContent); len(raw) > 60_000 {
			t.Fatalf("an answer of %d bytes", len(raw))
		}
		a := call(t, c, "session_read", args)
		for _, m := range a.Messages {
			read = append(read, m.ID)
			if m.ID == ids[7] && (m.Length != 80_000 || len(m.Text) >= len(long)) {
				t.Errorf("the long one: %d bytes, length %d", len(m.Text), m.Length)
			}
		}
		if a.Next == "" {
			break
		}
		args["cursor"] = a.Next
	}
	if !slices.Equal(read, ids) {
		t.Errorf("read %v of %v", read, ids)
	}

	var whole strings.Builder
	for args := map[string]any{"session_id": "a", "message_id": ids[7]}; ; {
		a := call(t, c, "session_read", args)
		if n := utf8.RuneCountInString(a.Messages[0].Text); n > 20_000 {
			t.Fatalf("%d characters at once", n)
		}
		whole.WriteString(a.Messages[0].Text)
		if a.Next == "" {
			break
		}
		args["cursor"] = a.Next
	}
	if whole.String() != long {
		t.Errorf("%d bytes of %d, read by parts", whole.Len(), len(long))
	}
}

// A message of very many calls shows some, and how many there are.
func TestCallsAreBounded(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"})
	calls := `[` + strings.Repeat(`{"name":"f","input":{}},`, 99) + `{"name":"f","input":"` + strings.Repeat("x", 9000) + `"}]`
	if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "assistant", ToolCalls: json.RawMessage(calls)}); err != nil {
		t.Fatal(err)
	}
	got := call(t, client(t, db, mcp.Options{}), "session_read", map[string]any{"session_id": "a"}).Messages[0].ToolCalls
	if len(got) != 21 || got[0] != "f({})" || got[20] != "… 80 more" {
		t.Errorf("%q", got)
	}
}

func TestUsage(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a", Source: "cli", Model: "opus"})
	if err := db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 7, Output: 2}}); err != nil {
		t.Fatal(err)
	}
	c := client(t, db, mcp.Options{})
	for by, key := range map[string]string{"": "opus", "model": "opus", "source": "cli", "session": "a"} {
		a := call(t, c, "session_usage", map[string]any{"by": by})
		if len(a.Rows) != 1 || a.Rows[0].Key != key || a.Rows[0].Input != 7 || a.Rows[0].Output != 2 {
			t.Errorf("by %q: %+v", by, a.Rows)
		}
	}
	if a := call(t, c, "session_usage", map[string]any{"before": "2020-01-01"}); len(a.Rows) != 0 {
		t.Errorf("before it began: %+v", a.Rows)
	}
}

func TestWrite(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"})
	c := client(t, db, mcp.Options{AllowWrite: true})
	id := call(t, c, "session_append", map[string]any{"session_id": "a", "role": "user", "text": "hello"}).MessageID
	if ms, err := db.Messages(t.Context(), "a"); err != nil || len(ms) != 1 || ms[0].ID != id || ms[0].Content.PlainText() != "hello" {
		t.Errorf("%+v, %v", ms, err)
	}
	if a := call(t, c, "session_title", map[string]any{"session_id": "a", "title": "plan"}); a.Session.Title != "plan" {
		t.Errorf("%+v", a.Session)
	}
	if a := call(t, c, "session_end", map[string]any{"session_id": "plan", "reason": "done"}); a.Session.Reason != "done" {
		t.Errorf("%+v", a.Session)
	}
}

// An error is an answer, in one line, that says what to do.
func TestErrors(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "aa"}, "x")
	create(t, db, sessiondb.NewSession{ID: "ab"})
	c := client(t, db, mcp.Options{AllowWrite: true})
	for _, w := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"session_read", map[string]any{"session_id": "no\nsuch"}, `no session has the id or the title "no\nsuch"`},
		{"session_read", map[string]any{"session_id": ""}, "session_id is empty"},
		{"session_read", map[string]any{"session_id": "a"}, "one of these ids"},
		{"session_read", map[string]any{"session_id": "aa", "message_id": 99}, "message 99 is not in session aa"},
		{"session_read", map[string]any{"session_id": "aa", "cursor": "offset:3"}, "leave it out"},
		{"session_list", map[string]any{"cursor": "nonsense"}, "leave it out"},
		{"session_list", map[string]any{"cursor": "offset:99999999999999999999"}, "leave it out"},
		{"session_search", map[string]any{"query": "x", "message_id": 1, "session_id": "aa"}, "both query and message_id: give "},
		{"session_search", map[string]any{"message_id": 1}, "give session_id too"},
		{"session_search", map[string]any{"session_id": "aa"}, "session_id alone: give query too"},
		{"session_search", map[string]any{"session_id": "aa"}, "session_read reads a session"},
		{"session_search", map[string]any{"session_id": "aa", "message_id": 99}, "is not in session"},
		{"session_search", map[string]any{"sources": []string{"a", "b"}}, "name one source"},
		{"session_usage", map[string]any{"after": "yesterday"}, "2026-01-31"},
		{"session_title", map[string]any{"session_id": "aa", "title": strings.Repeat("x", 101)}, "at most 100"},
		{"session_tag", map[string]any{"session_id": "aa"}, "give tags in one of them"},
		{"session_tag", map[string]any{"session_id": "aa", "add": []string{"two words"}}, "it is one word"},
		{"session_end", map[string]any{"session_id": "aa", "reason": ""}, "the reason is empty"},
	} {
		r := result(t, c, w.tool, w.args)
		text := r.Content[0].(*sdk.TextContent).Text
		if !r.IsError || !strings.Contains(text, w.want) || strings.ContainsAny(text, "\n\r") {
			t.Errorf("%s %v: %q, want %q", w.tool, w.args, text, w.want)
		}
	}
}
