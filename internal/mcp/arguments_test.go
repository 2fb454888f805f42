package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

// Arguments that can't be used are answered with what to give instead, in words
// that name neither Go nor a validator, and nothing is done.
func TestArgumentsRefused(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "aa"}, "x")
	c := client(t, db, mcp.Options{AllowWrite: true})
	const ofSearch = "give query, session_id, message_id, window, sources, exclude_sources, tag, current_session_id, sort, limit, cursor"
	for _, w := range []struct{ tool, args, want string }{
		{"session_search", `{"query":5}`, `query: give a string, not 5`},
		{"session_search", `{"query":{"a":["b"]}}`, `query: give a string, not {"a":["b"]}`},
		{"session_search", `{"sources":"cli"}`, `sources: give a list of strings, not "cli"`},
		{"session_search", `{"sources":["cli",1]}`, `sources: give a list of strings, not ["cli",1]`},
		{"session_search", `{"sources":[null]}`, `sources: give a list of strings, not [null]`},
		{"session_search", `{"limit":"5"}`, `limit: give an integer from 1 to 10, not "5"`},
		{"session_search", `{"limit":1.5}`, `limit: give an integer from 1 to 10, not 1.5`},
		{"session_search", `{"limit":1e30}`, `limit: give an integer from 1 to 10, not 1e30`},
		{"session_search", `{"limit":0}`, `limit: give an integer from 1 to 10, not 0`},
		{"session_search", `{"limit":-1}`, `limit: give an integer from 1 to 10, not -1`},
		{"session_search", `{"limit":11}`, `limit: give an integer from 1 to 10, not 11`},
		{"session_search", `{"limit":true}`, `limit: give an integer from 1 to 10, not true`},
		{"session_search", `{"message_id":99999999999999999999,"session_id":"aa"}`, `message_id: give an integer, not 99999999999999999999`},
		{"session_search", `{"message_id":1,"session_id":"aa","window":0}`, `window: give an integer from 1 to 20, not 0`},
		{"session_search", `{"query":"x","sort":"best"}`, `sort: give one of newest, oldest, not "best"`},
		{"session_search", `{"Query":"x"}`, `there is no parameter "Query": ` + ofSearch},
		{"session_search", `{"` + strings.Repeat("x", 99) + `":1}`, `there is no parameter "` + strings.Repeat("x", 40) + `…": ` + ofSearch},
		{"session_search", `[1]`, "the arguments are no JSON object: " + ofSearch},
		{"session_search", `"x"`, "the arguments are no JSON object: " + ofSearch},
		{"session_read", `{}`, "session_id is missing: give a string"},
		{"session_read", `null`, "session_id is missing: give a string"},
		{"session_read", `{"session_id":null}`, "session_id is missing: give a string"},
		{"session_read", `{"session_id":"aa","limit":101}`, "limit: give an integer from 1 to 100, not 101"},
		{"session_list", `{"limit":0}`, "limit: give an integer from 1 to 50, not 0"},
		{"session_usage", `{"by":"moon"}`, `by: give one of model, source, day, session, not "moon"`},
		{"session_append", `{"session_id":"aa","role":"","text":"x"}`, `role: give one of user, assistant, tool, system, not ""`},
		{"session_append", `{"session_id":"aa","role":"bänana","text":"x"}`, `role: give one of user, assistant, tool, system, not "bänana"`},
		{"session_append", `{"session_id":"aa","role":"user"}`, "text is missing: give a string"},
	} {
		r := raw(t, c, w.tool, w.args)
		if got := r.Content[0].(*sdk.TextContent).Text; !r.IsError || got != w.want {
			t.Errorf("%s %s:\n got %q\nwant %q", w.tool, w.args, got, w.want)
		}
	}
	if ms, err := db.Messages(t.Context(), "aa"); err != nil || len(ms) != 1 {
		t.Errorf("%d messages, %v", len(ms), err)
	}
}

// What a model gives for a parameter that it does not want counts as absent, and
// a whole number is one in any writing.
func TestArgumentsAbsent(t *testing.T) {
	db := store(t)
	for _, id := range []string{"aa", "ab", "ac", "ad"} {
		create(t, db, sessiondb.NewSession{ID: id, Source: "cli"}, "zebra")
	}
	c := client(t, db, mcp.Options{AllowWrite: true})
	for _, w := range []struct{ tool, args, same string }{
		{"session_search", `{"query":null,"message_id":null,"sources":null,"limit":null,"cursor":null}`, `{}`},
		{"session_search", `{"query":"","session_id":"","message_id":0,"sort":"","cursor":""}`, `{}`},
		{"session_search", `{"query":"zebra","limit":2.0}`, `{"query":"zebra","limit":2}`},
		{"session_search", `{"query":"zebra","limit":2e0}`, `{"query":"zebra","limit":2}`},
		{"session_search", `{"query":"zebra"}`, `{"query":"zebra","limit":3}`},
		{"session_read", `{"session_id":"aa","message_id":null}`, `{"session_id":"aa","limit":40}`},
		{"session_list", `null`, `{"limit":20}`},
		{"session_usage", `{"by":null,"after":""}`, `{"by":"model","limit":20}`},
	} {
		got, want := raw(t, c, w.tool, w.args), raw(t, c, w.tool, w.same)
		if g, e := got.Content[0].(*sdk.TextContent).Text, want.Content[0].(*sdk.TextContent).Text; got.IsError || g != e {
			t.Errorf("%s %s:\n got %s\nwant %s", w.tool, w.args, g, e)
		}
	}
	if r := raw(t, c, "session_title", `{"session_id":"aa","title":""}`); r.IsError {
		t.Errorf("an empty title takes a title away: %s", r.Content[0].(*sdk.TextContent).Text)
	}
}

func raw(t *testing.T, c *sdk.ClientSession, tool, args string) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	return r
}

// A conversation that is not known can't be left out, and the model is told.
func TestCurrentConversation(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "old"}, "zebra")
	create(t, db, sessiondb.NewSession{ID: "own"}, "zebra")
	if err := db.EndSession(t.Context(), "own", "compression"); err != nil {
		t.Fatal(err)
	}
	create(t, db, sessiondb.NewSession{ID: "goes-on", ParentID: "own"}, "zebra")
	c := client(t, db, mcp.Options{})
	for _, args := range []map[string]any{{"query": "zebra"}, {}} {
		for _, w := range []struct {
			current string
			found   []string
			notice  string
		}{
			{"own", []string{"old"}, ""},
			{"goes-on", []string{"old"}, ""},
			{"goes", []string{"old"}, ""},
			{"o", []string{"goes-on", "old"}, `current_session_id: resolve session "o": "o" fits several sessions: own, old; no conversation was left out`},
			{"no\nsuch", []string{"goes-on", "old"}, `current_session_id: no session has the id or the title "no\nsuch": not found; no conversation was left out`},
		} {
			args["current_session_id"] = w.current
			a := call(t, c, "session_search", args)
			var found []string
			for _, h := range a.Conversations {
				found = append(found, h.Resume)
			}
			for _, s := range a.Sessions {
				found = append(found, s.ID)
			}
			slices.Sort(found)
			if !slices.Equal(found, w.found) || strings.Join(a.Notices, "|") != w.notice {
				t.Errorf("%v: %v, %q", args, found, a.Notices)
			}
		}
	}
}

// What the tools answer is what their schemas say.
func TestAnswersFitTheirSchema(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "aa"}, "zebra", "lion")
	c := client(t, db, mcp.Options{AllowWrite: true})
	calls := map[string][]string{
		"session_search": {`{}`, `{"query":"zebra"}`, `{"query":"zebra submarine"}`, `{"session_id":"aa","message_id":1}`},
		"session_read":   {`{"session_id":"aa"}`, `{"session_id":"aa","message_id":1}`},
		"session_list":   {`{}`, `{"source":"none"}`},
		"session_usage":  {`{}`, `{"by":"session"}`},
		"session_append": {`{"session_id":"aa","role":"tool","text":""}`},
		"session_title":  {`{"session_id":"aa","title":"plan"}`},
		"session_tag":    {`{"session_id":"aa","add":["x"]}`},
		"session_end":    {`{"session_id":"aa","reason":"done"}`},
	}
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		s := schema(t, tool.OutputSchema)
		schema(t, tool.InputSchema)
		if len(calls[tool.Name]) == 0 {
			t.Errorf("%s is not tried", tool.Name)
		}
		for _, args := range calls[tool.Name] {
			if r := raw(t, c, tool.Name, args); r.IsError {
				t.Errorf("%s %s: %s", tool.Name, args, r.Content[0].(*sdk.TextContent).Text)
			} else if err := s.Validate(r.StructuredContent); err != nil {
				t.Errorf("%s %s: %v", tool.Name, args, err)
			}
		}
	}
}

func schema(t *testing.T, v any) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}
