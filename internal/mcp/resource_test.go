package mcp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

func TestResource(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a/b ü", Source: "cli"}, "hello", "world")
	c := client(t, db, mcp.Options{})
	r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "session:///a%2Fb%20%C3%BC"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Contents[0]; got.MIMEType != "text/markdown" || !strings.HasPrefix(got.Text, "# a/b ü\n\n- Session: a/b ü\n- Source: cli\n") ||
		!strings.Contains(got.Text, "\nhello\n") || !strings.HasSuffix(got.Text, "\nworld\n") {
		t.Errorf("%s", got.Text)
	}
	_, err = c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "session:///none"})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, `"none"`) {
		t.Errorf("a resource of no session: %v", err)
	}
}

// A long session comes in parts that lead on from each other, each message once, a long
// text cut with a word of where the rest is.
func TestLongResource(t *testing.T) {
	db := store(t)
	c := client(t, db, mcp.Options{})
	const all = 250
	texts := []string{strings.Repeat("x", 700_000)}
	for i := 1; i < all; i++ {
		texts = append(texts, fmt.Sprintf("text %d. ", i)+strings.Repeat("é", 100*(i%30)))
	}
	create(t, db, sessiondb.NewSession{ID: "a long?"}, texts...)
	uri, read := "session:///a%20long%3F", ""
	for parts := 1; uri != ""; parts++ {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		text := r.Contents[0].Text
		if len(text) > 50_000 || parts > 50 {
			t.Fatalf("part %d has %d bytes", parts, len(text))
		}
		text, note, more := strings.Cut(text, "\n---\n\nIt goes on: read ")
		read += text
		if uri = ""; more {
			uri, note, _ = strings.Cut(note, ", or ")
			if !strings.Contains(note, `session_read with session_id "a long?" and cursor "message:`) {
				t.Errorf("%s", note)
			}
		}
	}
	if !strings.Contains(read, "_4000 of 700000 characters are shown: session_read with message_id 1 gives all of it._") {
		t.Errorf("a long text is cut without a word: %.5000s", read)
	}
	for i := 1; i < all; i++ {
		if n := strings.Count(read, fmt.Sprintf("\ntext %d. ", i)); n != 1 {
			t.Errorf("message %d is there %d times", i, n)
		}
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "session:///a%20long%3F?cursor=x"}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("a cursor of none: %v", err)
	}
}

// The sessions are listed as resources, newest first, page by page, for nobody else to
// keep.
func TestListedResources(t *testing.T) {
	db := store(t)
	c := client(t, db, mcp.Options{})
	r, err := c.ListResources(t.Context(), nil)
	if err != nil || len(r.Resources) != 0 {
		t.Fatalf("%v, %v", r, err)
	}
	const all = 120
	for i := range all {
		create(t, db, sessiondb.NewSession{ID: fmt.Sprintf("%03d?", i), Source: "cli"}, fmt.Sprintf("about %d", i))
	}
	var got []string
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Name+" "+r.Title)
		if len(got) == 1 {
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI}); err != nil {
				t.Errorf("%s: %v", r.URI, err)
			}
		}
	}
	if len(got) != all || got[0] != "119? about 119" || got[all-1] != "000? about 0" {
		t.Errorf("%d: %q", len(got), got)
	}
	for _, cursor := range []string{"x", "offset:-1", "message:5"} {
		if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor}); err == nil {
			t.Errorf("%q is a cursor", cursor)
		}
	}
}

// Nothing between the server and its client may keep what it says.
func TestPrivate(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"}, "hello")
	c := client(t, db, mcp.Options{})
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "session:///a"})
	if err != nil {
		t.Fatal(err)
	}
	named, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, scope := range map[string]string{"list": list.CacheScope, "read": read.CacheScope, "tools": named.CacheScope} {
		if scope != "private" {
			t.Errorf("%s: for %q", name, scope)
		}
	}
}
