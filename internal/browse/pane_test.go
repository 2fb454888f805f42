package browse

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// burrows makes a store whose words are hard to get to.
func burrows(t *testing.T) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	noError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	session := func(id, parent string, ms ...sessiondb.Message) {
		_, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli", ParentID: parent})
		noError(t, err)
		_, err = db.AppendMessages(t.Context(), id, ms)
		noError(t, err)
	}
	says := func(text string) sessiondb.Message {
		return sessiondb.Message{Role: "user", Content: sessiondb.Text(text)}
	}
	session("deep", "", says("hello"), says(rows(0, 30)+"here is zanzibar\n"+rows(30, 60)+"zanzibar again"))
	session("paste", "", says("a paste follows"), says(rows(0, 40_000)+"quokka one\n"+rows(40_000, 80_000)+"quokka two"), says("quokka three"))
	args, err := json.Marshal(map[string]string{"path": "x.md", "content": strings.Repeat("filler ", 400) + "the wombat digs"})
	noError(t, err)
	calls, err := json.Marshal([]any{map[string]any{"id": "axolotl", "function": map[string]string{"name": "write_file", "arguments": string(args)}}})
	noError(t, err)
	name := "terminal"
	session("tools", "", says("write it"), sessiondb.Message{Role: "assistant", ToolCalls: calls},
		sessiondb.Message{Role: "tool", ToolName: &name, Content: sessiondb.Text("ok\n" + rows(0, 50) + "wombat done")})
	var many []sessiondb.Message
	for i := range 500 {
		text := fmt.Sprintf("message %d", i)
		if i == 5 || i == 250 {
			text += " has the platypus"
		}
		many = append(many, says(text))
	}
	session("before", "", many...)
	noError(t, db.EndSession(t.Context(), "before", "compression"))
	session("after", "before", says("going on"), says("the platypus swims"))
	return db
}

func rows(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "row %d of a long text\n", i)
	}
	return b.String()
}

// here is the line of the match that was gone to, which is on the screen and marked.
func (p *person) here() string {
	p.t.Helper()
	p.screenshot()
	p.o.Color = true
	for _, l := range p.textLines(p.bodyHeight()) {
		if strings.Contains(l, "\x1b["+markedHere.color+"m") {
			return sequence.ReplaceAllString(l, "")
		}
	}
	return ""
}

// A transcript opens at the match, wherever in a message that is.
func TestOpensAtTheMatch(t *testing.T) {
	db := burrows(t)
	for query, want := range map[string]string{
		"zanzibar": "here is zanzibar", "quokka": "quokka three", "wombat": "wombat done", "platypus": "the platypus swims",
		"axolotl": `d":"axolotl"}]`, "terminal": "tool terminal",
	} {
		for _, width := range []int{80, 120} {
			p := sit(t, db, width, 24)
			if p.press(query); !strings.HasSuffix(p.here(), want) {
				t.Errorf("%s on %d columns opens at %q, want %q:\n%s", query, width, p.here(), want, p.screenshot())
			}
		}
	}
}

func TestGoesToMatches(t *testing.T) {
	db := burrows(t)
	for query, steps := range map[string][]string{
		"zanzibar": {"n zanzibar again", "n ", "N here is zanzibar", "N "},
		"quokka":   {"N quokka two", "N quokka one", "N ", "n quokka two", "n quokka three", "n "},
		"wombat":   {`N wombat digs","path":"x.md"})`, "N ", "n wombat done", "n "},
		"platypus": {"N message 250 has the platypus", "N message 5 has the platypus", "N ", "n message 250 has the platypus", "n the platypus swims", "n "},
	} {
		p := sit(t, db, 80, 24)
		p.press(query, "tab")
		at := p.here()
		for i, step := range steps {
			key, want, _ := strings.Cut(step, " ")
			p.press(key)
			if last := strings.Contains(p.note, "no match "); last != (want == "") {
				t.Errorf("%s, %q of %v: %q", query, step, steps[:i+1], p.note)
			}
			if want == "" {
				want = at
			}
			if at = p.here(); !strings.HasSuffix(at, want) {
				t.Errorf("%s, %q of %v: at %q", query, step, steps[:i+1], at)
			}
		}
	}
	p := sit(t, db, 80, 24)
	if p.press("tab", "n"); !strings.Contains(p.screenshot(), "nothing is searched for") {
		t.Errorf("n without a search:\n%s", p.screenshot())
	}
}

// From the screen on, not from where one was before.
func TestGoesOnFromTheScreen(t *testing.T) {
	p := sit(t, burrows(t), 80, 24)
	p.press("zanzibar", "tab", "tab", "G", "N")
	if at := p.here(); !strings.HasSuffix(at, "here is zanzibar") {
		t.Errorf("at %q", at)
	}
	p.press("g", "n")
	if at := p.here(); !strings.HasSuffix(at, "here is zanzibar") {
		t.Errorf("at %q", at)
	}
}

// All of a text can be read, however long it is, down and up again.
func TestReadsAll(t *testing.T) {
	p := sit(t, burrows(t), 80, 200)
	p.press("follows", "tab", "tab")
	for _, key := range []string{"j", "k"} {
		seen := map[string]bool{}
		for top := -1; top != p.text.top; {
			top = p.text.top
			for _, l := range p.textLines(p.bodyHeight()) {
				seen[sequence.ReplaceAllString(l, "")] = true
			}
			if len(p.text.lines) > maxWindow/len("row 1 of a long text") {
				t.Fatalf("%d lines are laid out", len(p.text.lines))
			}
			p.do(p.scroll(map[string]int{"j": 150, "k": -150}[key]))
		}
		missing := 0
		for i := range 80_000 {
			if !seen[fmt.Sprintf("row %d of a long text", i)] {
				missing++
			}
		}
		if missing > 0 || !seen["a paste follows"] || !seen["quokka three"] {
			t.Errorf("%s: %d rows were not shown", key, missing)
		}
	}
}

// Where the pane becomes narrower, or is unfolded, what is on top of it stays there.
func TestStaysInPlace(t *testing.T) {
	p := sit(t, burrows(t), 120, 24)
	p.press("follows", "tab", "tab", "j", "j", "j", "j")
	p.press("f", "f")
	if p.text.top != 4 {
		t.Errorf("line %d is on top", p.text.top)
	}
	p = sit(t, burrows(t), 120, 24)
	p.press("zanzibar")
	before := sequence.ReplaceAllString(p.textLines(1)[0], "")
	p.width = 90
	p.text.stale = true
	p.screenshot()
	if after := sequence.ReplaceAllString(p.textLines(1)[0], ""); after != before {
		t.Errorf("%q is on top, was %q", after, before)
	}
}

// A row shows the match, however narrow it is.
func TestSnippetShowsTheMatch(t *testing.T) {
	for _, c := range []struct {
		text, match string
		width       int
		want        string
	}{
		{"the match is here", "match", 20, "the match is here"},
		{"a long way to the match and on", "match", 20, "…the match and on"},
		{"a long way to the match and further", "match", 20, "…the match and furt…"},
		{"가나다 라마바 사아자 배포 차카", "배포", 12, "…배포 차카"},
		{"a long way to the match", "match", 5, "…mat…"},
		{"no match", "x", 5, "no m…"},
	} {
		at := strings.Index(c.text, c.match)
		var found []sessiondb.Span
		if at >= 0 {
			found = []sessiondb.Span{{Start: at, End: at + len(c.match)}}
		}
		got := ""
		for _, q := range lineOf(c.text, 0, found).onMatch(c.width).cut(c.width, faint) {
			got += q.text
		}
		if got != c.want || term.Width(got) > c.width {
			t.Errorf("%q on %d cells: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// What a search finds has the same name as in the list.
func TestNamesOfUntitled(t *testing.T) {
	p := sit(t, burrows(t), 120, 24)
	name := func(r row) string { return p.row(r, false, 60)[0] }
	listed := map[string]string{}
	for _, r := range p.rows {
		listed[r.id] = name(r)
	}
	for _, query := range []string{"zanzibar", "platypus"} {
		p.press("ctrl+u", query)
		if r, ok := p.current(); !ok || name(r) != listed[r.id] {
			t.Errorf("%s is %q, in the list %q", r.id, name(r), listed[r.id])
		}
	}
}
