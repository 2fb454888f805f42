package serve

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// A hit leads to the marked word: in what is folded, behind the end of what is shown of
// a long text, and from there to the matches of other messages.
func TestMatchesShown(t *testing.T) {
	db, s := store(t)
	create(t, db, sessiondb.NewSession{ID: "one", Source: "cli"}, "where is the Needle?", "a hay stack")
	tool := "grep"
	for _, text := range []string{"a needle " + attack, strings.Repeat("hay ", 10_000) + "needle" + strings.Repeat(" hay", 10_000)} {
		if _, err := db.AppendMessage(t.Context(), "one", sessiondb.Message{Role: "tool", ToolName: &tool, Content: sessiondb.Text(text)}); err != nil {
			t.Fatal(err)
		}
	}
	hit := linkTo(t, get(t, s, "/?q=needle+-never"), `><span class="title"`)
	if !strings.HasPrefix(hit, "/session?id=one&m=") || !strings.Contains(hit, "&q=needle+-never#m-") || !strings.HasSuffix(hit, "-1") {
		t.Fatalf("a hit leads to %s", hit)
	}
	address, place, _ := strings.Cut(hit, "#")
	page := get(t, s, address)
	holds(t, page, []string{`id="` + place + `"`, `value="needle -never"`, "3 matches of <b dir=\"auto\">needle -never</b>", `<a href="#m-1-1">the first</a>`,
		`where is the <mark id="m-1-1">Needle</mark>?`, `<details open><summary>grep answered</summary><div class="body" dir="auto"><pre>a <mark id="m-3-1">needle</mark> &#34;&gt;`,
		`<pre>…`, `<mark id="m-4-1">needle</mark> hay`, `<a href="/message?id=one&amp;m=4&amp;q=needle&#43;-never#m-4-1">Show all of it</a>`,
		`<a href="#m-3-1">next match</a>`, `<a href="#m-1-1">previous match</a>`, `<a href="#m-4-1">next match</a>`, `<a href="#m-3-1">previous match</a>`},
		"<mark>")
	if len(page) > 40<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	whole := get(t, s, "/message?id=one&m=4&q=needle")
	holds(t, whole, []string{`<details open>`, `<mark id="m-4-1">needle</mark>`, `href="/session?id=one&amp;m=4&amp;q=needle#m-4-1">Back`})
	holds(t, get(t, s, "/session?id=one"), []string{`<details><summary>grep`, `id="m-3"`}, "<mark", "match")
	// of a search without words, and of what can't be marked, the message is the place
	holds(t, get(t, s, "/session?id=one&m=2&q=role:user"), []string{`<header id="m-2-1">`, "0 matches"}, "<mark")
	holds(t, get(t, s, "/session?id=one&part=messages&after=2&q=needle"), []string{`<mark id="m-3-1">`, `<mark id="m-4-1">`}, `id="m-1"`)
}

// The pages of a long conversation keep what is marked.
func TestMatchesOnPages(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 250)
	page := get(t, s, "/session?id=tip&q=text")
	next := linkTo(t, page, ` rel="next"`)
	page = get(t, s, next)
	holds(t, page, []string{"<mark id=", "&amp;q=text"})
	holds(t, get(t, s, linkTo(t, page, ` rel="prev"`)), []string{"<mark id=", "&amp;q=text"})
}

// A session is found by the beginning of its id and by its title; where several are
// meant, all of them are offered.
func TestSessionMeant(t *testing.T) {
	db, s := store(t)
	title := "A plan & more"
	create(t, db, sessiondb.NewSession{ID: "2026_aa1", Source: "cli"}, "hello")
	if err := db.SetTitle(t.Context(), "2026_aa1", title); err != nil {
		t.Fatal(err)
	}
	create(t, db, sessiondb.NewSession{ID: "2026_ab2", Source: attack}, attack)
	for ref, want := range map[string]string{"2026_aa": "2026_aa1", "2026_ab2": "", title: "2026_aa1", "a plan & more": "", "nothing": ""} {
		a := ask(t, s, "GET", "/session?m=1&q=hello&id="+url.QueryEscape(ref), "", nil)
		to := a.Header.Get("Location")
		switch {
		case want == "" && to != "", want != "" && (a.StatusCode != 303 || to != "/session?id="+want+"&m=1&q=hello"):
			t.Errorf("%s: status %d, to %q", ref, a.StatusCode, to)
		}
	}
	a := ask(t, s, "GET", "/session?id=2026&q=hello", "", nil)
	if a.StatusCode != 409 {
		t.Errorf("status %d", a.StatusCode)
	}
	holds(t, a.body, []string{"Several sessions begin with <b dir=\"auto\">2026</b>", `<a href="/session?id=2026_aa1&amp;q=hello">`, `<a href="/session?id=2026_ab2&amp;q=hello">`, "A plan &amp; more"})
	a = ask(t, s, "GET", "/session?id=nothing", "", nil)
	if a.StatusCode != 404 {
		t.Errorf("status %d", a.StatusCode)
	}
	holds(t, a.body, []string{`role="alert"`, "<nav"})
}

// What there is not is a page as well, or JSON for a program that calls methods.
func TestNowhere(t *testing.T) {
	_, s := store(t)
	for _, w := range []struct {
		method, path string
		status       int
		json         bool
	}{
		{"GET", "/nowhere", 404, false}, {"POST", "/nowhere", 404, false}, {"GET", "/session/x", 404, false}, {"POST", "/usage", 405, false},
		{"POST", "/rpc/", 404, true}, {"POST", "/rpc", 404, true}, {"POST", "/rpc/a/b", 404, true}, {"GET", "/rpc/session_count", 405, true},
	} {
		a := ask(t, s, w.method, w.path, "", nil)
		if a.StatusCode != w.status {
			t.Errorf("%s %s: status %d", w.method, w.path, a.StatusCode)
		}
		if !w.json {
			holds(t, a.body, []string{"<!doctype html>", `<a href="/usage"`, `role="alert"`})
			continue
		}
		var got problemJSON
		decode(t, a.body, &got)
		if got.Error.Kind == "" || !strings.Contains(got.Error.Message, "/openapi.json") || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %s", w.method, w.path, a.body)
		}
	}
	if a := ask(t, s, "GET", "/"+url.PathEscape(attack), "", nil); a.StatusCode != 404 {
		t.Errorf("status %d", a.StatusCode)
	} else {
		holds(t, a.body, []string{fmt.Sprintf("There is nothing at /%s", "&#34;&gt;&lt;script&gt;")})
	}
}
