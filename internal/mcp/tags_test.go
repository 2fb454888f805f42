package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

func TestTags(t *testing.T) {
	db := store(t)
	for _, id := range []string{"a", "b", "c"} {
		create(t, db, sessiondb.NewSession{ID: id, Source: "cli"}, "hello from "+id)
	}
	c := client(t, db, mcp.Options{AllowWrite: true})
	if a := call(t, c, "session_tag", map[string]any{"session_id": "a", "add": []string{"Work", "#urgent", "x"}}); !slices.Equal(a.Session.Tags, []string{"urgent", "work", "x"}) {
		t.Errorf("tagged %v", a.Session.Tags)
	}
	if a := call(t, c, "session_tag", map[string]any{"session_id": "a", "remove": []string{"x"}}); !slices.Equal(a.Session.Tags, []string{"urgent", "work"}) {
		t.Errorf("tagged %v", a.Session.Tags)
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("tag%02d", i))
	}
	call(t, c, "session_tag", map[string]any{"session_id": "b", "add": append(many, "work")})
	if a := call(t, c, "session_read", map[string]any{"session_id": "b"}); len(a.Session.Tags) != 21 || a.Session.Tags[20] != "… 11 more" {
		t.Errorf("many tags: %q", a.Session.Tags)
	}
	for _, w := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"session_list", "b a", map[string]any{"tag": "work"}},
		{"session_list", "a", map[string]any{"tag": "work #Urgent"}},
		{"session_list", "", map[string]any{"tag": "none"}},
		{"session_search", "a", map[string]any{"tag": "urgent"}},
		{"session_search", "a", map[string]any{"query": "tag:urgent source:cli"}},
		{"session_search", "", map[string]any{"query": "tag:urgent -source:cli"}},
		{"session_search", "", map[string]any{"query": "tag:urgent", "tag": "tag01"}},
		{"session_search", "a", map[string]any{"query": "hello", "tag": "urgent"}},
		{"session_search", "a", map[string]any{"query": "hello tag:work -tag:tag01"}},
	} {
		a := call(t, c, w.tool, w.args)
		var got []string
		for _, s := range a.Sessions {
			got = append(got, s.ID)
			if len(s.Tags) < 2 {
				t.Errorf("%s %v: %s has the tags %v", w.tool, w.args, s.ID, s.Tags)
			}
		}
		for _, h := range a.Conversations {
			got = append(got, h.SessionID)
			if len(h.Tags) < 2 {
				t.Errorf("%s %v: the hit in %s has the tags %v", w.tool, w.args, h.SessionID, h.Tags)
			}
		}
		if strings.Join(got, " ") != w.want {
			t.Errorf("%s %v: %v, want %s", w.tool, w.args, got, w.want)
		}
	}
}
