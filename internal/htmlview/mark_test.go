package htmlview

import (
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// marks are as ids say which is which; short drops what every one has.
var marks = regexp.MustCompile(`</?mark( id="m-7-[0-9]+")?>`)

func short(h template.HTML) string {
	return strings.NewReplacer(`<mark id="m-7-`, "[", `">`, ":", "<mark>", "[", "</mark>", "]").Replace(string(h))
}

func TestMarks(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"docker", "Docker, a docker.", "<p>[1:Docker], a [2:docker].</p>"},
		{`"docker compose"`, "**docker** compose", "<p><strong>[1:docker]</strong>[ compose]</p>"},
		{"배포", "재배포 & 배포", "<p>재[1:배포] &amp; [2:배포]</p>"},
		{"b", "a **b**c", "<p>a <strong>[1:b]</strong>c</p>"},
		{"amp", "a & b &lt; amp", "<p>a &amp; b &lt; [1:amp]</p>"},
		{"func", "```go\nfunc x() {}\n```", `<pre><code><span class="k:[1:func]</span> x() {}` + "\n</code></pre>"},
		{`"func x"`, "```go\nfunc x() {}\n```", `<pre><code><span class="k:[1:func]</span>[ x]() {}` + "\n</code></pre>"},
		{"script", "<script>", "<p>&lt;[1:script]&gt;</p>"},
		{"mark id", `<mark id="m-7-1">`, `<p>&lt;[1:mark] [2:id]=&#34;m-7-1&#34;&gt;</p>`},
		{"strong", "**a**", "<p><strong>a</strong></p>"},
		{"nothing", "a text", "<p>a text</p>"},
		{"", "a text", "<p>a text</p>"},
	} {
		k := &marker{terms: sessiondb.QueryTerms(c.query), message: 7}
		if got := strings.TrimSpace(short(k.html(Markdown(c.text)))); got != strings.TrimSpace(c.want) {
			t.Errorf("%q in %q:\ngot  %s\nwant %s", c.query, c.text, got, c.want)
		}
	}
}

// Marks change nothing of what they stand in.
func FuzzMarks(f *testing.F) {
	for _, s := range []string{"**docker** `x`", "<b>&amp;</b> & &lt;", "```go\nfunc a\n```", "[docker](https://docker.example)", "배포 <\xff>", "&NotEqualTilde; \u2242\u0338", "|a|b|\n|-|-|\n|docker|x|"} {
		f.Add(s, "docker OR b")
		f.Add(s, `"a b" OR 배포 OR x*`)
		f.Add(s, "\u0338")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		k := &marker{terms: sessiondb.QueryTerms(query), message: 7}
		for _, h := range []template.HTML{Markdown(text), Plain(text)} {
			got := string(k.html(h))
			if marks.ReplaceAllString(got, "") != string(h) || strings.Count(got, "<mark") != strings.Count(got, "</mark>") {
				t.Errorf("%q: %s of %s", query, got, h)
			}
		}
		text = strings.ToValidUTF8(text, "\uFFFD")
		if got := marks.ReplaceAllString(string(k.plain(text)), ""); got != template.HTMLEscapeString(text) {
			t.Errorf("%q: %s of %q", query, got, text)
		}
		if got := marks.ReplaceAllString(string(k.json(text)), ""); got != template.HTMLEscapeString(text) {
			t.Errorf("%q: %s of the JSON %q", query, got, text)
		}
	})
}

// A match is seen wherever a search finds it: in a folded answer, in a call, far behind
// the end of what is shown of a long text, in what Markdown does not show.
func TestMessageMatches(t *testing.T) {
	long := strings.Repeat("filler ", 2000) + "the needle is here" + strings.Repeat(" filler", 2000)
	name := "needle_tool"
	call := json.RawMessage(`[{"function":{"name":"other","arguments":"{\"a\":1}"}},{"function":{"name":"run","arguments":"{\"command\":\"ls\\nneedle\"}"}}]`)
	for what, c := range map[string]struct {
		m    sessiondb.Message
		want []string
	}{
		"said":    {sessiondb.Message{Role: "user", Content: sessiondb.Text("a **needle**")}, []string{`<strong><mark id="m-7-1">needle</mark></strong>`}},
		"folded":  {sessiondb.Message{Role: "tool", Content: sessiondb.Text("a needle")}, []string{`<details open><summary>tool answered`, `a <mark id="m-7-1">needle</mark>`}},
		"name":    {sessiondb.Message{Role: "tool", ToolName: &name, Content: sessiondb.Text("x")}, []string{`<details><summary><mark id="m-7-1">needle</mark>_tool answered`}},
		"call":    {sessiondb.Message{Role: "assistant", ToolCalls: call}, []string{"<details><summary>calls <b>other", "<details open><summary>calls <b>run</b>", `ls\n<mark id="m-7-1">needle</mark>`}},
		"behind":  {sessiondb.Message{Role: "user", Content: sessiondb.Text(long)}, []string{"<pre>…", `the <mark id="m-7-1">needle</mark> is`, "…</pre>", `<a href="/whole">Show all of it</a>`}},
		"address": {sessiondb.Message{Role: "user", Content: sessiondb.Text("[look](https://needle.example)")}, []string{`<pre>[look](https://<mark id="m-7-1">needle</mark>.example)</pre>`}},
	} {
		var b strings.Builder
		c.m.ID = 7
		m := NewMessage(c.m, MessageOptions{Terms: sessiondb.QueryTerms("needle"), Max: 2000, Deep: len(long), Whole: "/whole"})
		if err := m.Write(&b); err != nil || m.Matches != 1 || b.Len() > 4000 {
			t.Errorf("%s: %d matches, %d bytes, %v", what, m.Matches, b.Len(), err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %s in\n%s", what, want, b.String())
			}
		}
	}
}

// How far a long text is looked through is bounded, and told.
func TestDeep(t *testing.T) {
	text := strings.Repeat("hay ", 1000) + "needle " + strings.Repeat("hay ", 1000)
	for _, c := range []struct{ deep, matches, looked int }{{0, 0, 0}, {2000, 0, 1900}, {1 << 20, 1, len(text) - 100}} {
		m := NewMessage(sessiondb.Message{ID: 7, Role: "tool", Content: sessiondb.Text(text)},
			MessageOptions{Terms: sessiondb.QueryTerms("needle"), Max: 100, Deep: c.deep})
		if m.Matches != c.matches || m.Looked != c.looked {
			t.Errorf("%d deep: %d matches, looked through %d bytes", c.deep, m.Matches, m.Looked)
		}
	}
}

// What an attack holds is no mark of ours, and no element at all.
func TestMarkedAttack(t *testing.T) {
	evil := attack
	m := sessiondb.Message{ID: 7, Role: "tool", ToolName: &evil, Content: sessiondb.Text(attack + `<mark id="m-7-1">`),
		ToolCalls: json.RawMessage(fmt.Sprintf(`[{"function":{"name":%q,"arguments":%q}}]`, attack, attack))}
	var b strings.Builder
	if err := WriteMessage(&b, m, MessageOptions{Terms: sessiondb.QueryTerms("script OR alert OR mark OR img OR m-7-1")}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", `onerror="`} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("it holds %s: %s", bad, b.String())
		}
	}
	if n := strings.Count(b.String(), `id="m-7-1"`); n != 1 {
		t.Errorf("%d elements have the id of the first match", n)
	}
}
