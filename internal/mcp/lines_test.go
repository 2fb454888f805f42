package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// answers are what a server says to an input that ends, by id.
func answers(t *testing.T, db *sessiondb.DB, o mcp.Options, in string) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := mcp.Serve(t.Context(), db, strings.NewReader(in), &out, o); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var a struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got[string(a.ID)] = line
	}
	return got
}

// The end of the input lets what runs finish.
func TestInputEnds(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"})
	var in strings.Builder
	in.WriteString(hello)
	for i := range 20 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"session_append","arguments":{"session_id":"a","role":"user","text":"x"}}}`+"\n", i)
	}
	got := answers(t, db, mcp.Options{AllowWrite: true}, strings.TrimSuffix(in.String(), "\n"))
	n, err := db.MessageCount(t.Context(), "a")
	if err != nil || n != 20 || len(got) != 21 {
		t.Errorf("%d messages, %d answers, %v", n, len(got), err)
	}
}

// A line that is no message costs that line.
func TestBadLines(t *testing.T) {
	for name, bad := range map[string]string{
		"garbage": "garbage", "half": `{"jsonrpc":"2.0",`, "empty": "", "spaces": "   ", "binary": "\x00\xff", "long": strings.Repeat("x", 17<<20),
		"null": "null", "list": "[]", "batch": `[{"jsonrpc":"2.0","id":9,"method":"tools/list"}]`, "number": "5", "no version": `{"id":1,"method":"tools/list"}`,
		"another version": `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, "id": `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
	} {
		got := answers(t, store(t), mcp.Options{}, hello+bad+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
		if !strings.Contains(got["2"], "session_search") {
			t.Errorf("%s: the next line is answered with %q", name, got["2"])
		}
		if refused := strings.Contains(got["null"], "-32700"); refused != (strings.TrimSpace(bad) != "") {
			t.Errorf("%s: %q", name, got["null"])
		}
	}
}
