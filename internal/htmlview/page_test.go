package htmlview

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

// TestPage writes a page of which every column is an attack: no element of it
// comes from them, and nothing is loaded.
func TestPage(t *testing.T) {
	evil := attack
	var b strings.Builder
	p := &Page{W: &b}
	s := sessiondb.Session{ID: attack, Source: attack, Model: &evil, Title: &evil, EndReason: &evil, ParentID: &evil,
		StartedAt: time.Unix(1777885200, 0), EndedAt: time.Unix(1777885260, 0)}
	calls, err := json.Marshal([]any{map[string]any{"function": map[string]string{"name": attack, "arguments": attack}}, attack})
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{p.Begin(s, sessiondb.Branch)}
	for i, role := range []string{"user", "assistant", "tool", "system", attack} {
		steps = append(steps, p.Message(sessiondb.Message{ID: int64(i), Role: role, ToolName: &evil, Content: sessiondb.Text(attack),
			Reasoning: &evil, ToolCalls: calls}))
	}
	steps = append(steps, p.End(), p.Close())
	for _, err := range steps {
		if err != nil {
			t.Fatal(err)
		}
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", " onerror=\"", "src=\"", "url(", "@import", "<link", "<iframe"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	for _, want := range []string{"<!doctype html>", "default-src 'none'", "branch of", "2026-05-04 09:00:00 UTC", "alert(1)", "answered", "Reasoning", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, element := range []string{"article", "section", "details", "main", "pre", "div"} {
		if open, end := strings.Count(page, "<"+element), strings.Count(page, "</"+element+">"); open != end || open == 0 {
			t.Errorf("%d times <%s, %d times its end", open, element, end)
		}
	}
}

func TestNoSession(t *testing.T) {
	var b strings.Builder
	if err := (&Page{W: &b}).Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "No session.") || !strings.HasSuffix(b.String(), "</html>\n") {
		t.Error(b.String())
	}
}
