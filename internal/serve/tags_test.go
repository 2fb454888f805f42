package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func TestTags(t *testing.T) {
	db, s := store(t)
	for i := range listPage + 2 {
		id := fmt.Sprintf("s%02d", i)
		create(t, db, sessiondb.NewSession{ID: id, Source: "cli"}, "docker "+id)
		tags := []string{"all"}
		if i < 2 {
			tags = append(tags, "work", `"<script>`)
		}
		if _, err := db.Tag(t.Context(), id, tags, nil); err != nil {
			t.Fatal(err)
		}
	}
	create(t, db, sessiondb.NewSession{ID: "other", Source: "cron"}, "docker")
	two := []string{`href="/session?id=s00`, `href="/session?id=s01`, `<a href="/?tag=work" dir="auto">#work</a>`, `<a href="/?tag=%22%3Cscript%3E" dir="auto">#&#34;&lt;script&gt;</a>`}
	for _, path := range []string{
		"/?tag=work", "/?tag=%23Work&order=start", "/?tag=work&tag=all", "/?q=tag%3Awork", "/?q=tag%3Awork&tag=all", "/?q=docker&tag=work", "/?q=docker+tag%3Awork",
		"/?q=dock&typing=1&tag=work&part=list", "/?q=docker+tag%3Awork&typing=1&part=list", "/?q=tag%3Awork&typing=1&part=list",
	} {
		holds(t, get(t, s, path), two, "s02", "other", "<script>")
	}
	holds(t, get(t, s, "/?tag=work"), []string{`<option selected>work</option>`, `<option>all</option>`})
	holds(t, get(t, s, "/?tag=Nothing"), []string{`<option selected>nothing</option>`, "No session here"}, "/session?id=")
	holds(t, get(t, s, "/?tag=all&tag=work"), []string{`<option selected>all</option>`, `name="tag" value="work" checked`})
	holds(t, get(t, s, "/?tag=all"), []string{`href="/?offset=50&amp;tag=all" rel="next"`}, "other")
	holds(t, get(t, s, "/?tag=all&offset=50"), []string{"s00", "s01"}, "s02")
	holds(t, get(t, s, "/usage?days=0&tag=work&tag=all"), []string{`<dt>Sessions</dt><dd>2</dd>`, `<option selected>work</option>`, `value="all" checked`})
	for path, lines := range map[string]int{"/export?tag=work": 2, "/export?tag=work&source=cron": 0, "/export?tag=none": 0} {
		if a := ask(t, s, http.MethodGet, path, "", nil); a.StatusCode != http.StatusOK || strings.Count(a.body, "\n") != lines {
			t.Errorf("%s: status %d, %d lines, not %d", path, a.StatusCode, strings.Count(a.body, "\n"), lines)
		}
	}
	holds(t, get(t, s, "/?q=tag%3Awork+source%3Acron"), []string{"No session here"})
	holds(t, get(t, s, "/?q=source%3Acron&source=cli"), []string{"no searchable terms"})
	holds(t, get(t, s, "/session?id=s00"), append(two[2:], `<form method="post" action="/tag">`, `name="tags" value="&#34;&lt;script&gt; all work"`), "<script>")
}

func TestSetTags(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 2)
	post := form(t, db)
	set := func(body string, want int, header map[string]string) answer {
		t.Helper()
		a := post("/tag", body, header)
		if a.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", body, a.StatusCode, want, a.body)
		}
		return a
	}
	if a := set("id=root&tags=+Work,%23later++work", http.StatusSeeOther, nil); a.Header.Get("Location") != "/session?id=root" {
		t.Errorf("sent on to %q", a.Header.Get("Location"))
	}
	holds(t, get(t, s, "/session?id=tip"), []string{">#later</a> <a", ">#work</a>"})
	stolen := map[string]string{"Authorization": "", "Cookie": "sessiondb-1=" + (&server{options: Options{Token: secret}}).cookieValue(), "Host": "127.0.0.1:1", "Origin": "http://127.0.0.1:2"}
	for _, w := range []struct {
		body   string
		status int
		header map[string]string
	}{
		{"id=tip&tags=a+-b", http.StatusBadRequest, nil},
		{"id=nope&tags=a", http.StatusNotFound, nil},
		{"id=tip&tags=stolen", http.StatusForbidden, stolen},
		{"id=tip&tags=" + url.QueryEscape("a\u202e"), http.StatusBadRequest, nil},
	} {
		a := set(w.body, w.status, w.header)
		if w.header == nil {
			holds(t, a.body, []string{`role="alert"`})
		}
	}
	if tags, err := db.Tags(t.Context(), "tip"); err != nil || fmt.Sprint(tags) != "[later work]" {
		t.Errorf("%v, %v", tags, err)
	}
	set("id=tip", http.StatusSeeOther, nil)
	holds(t, get(t, s, "/session?id=tip"), []string{`name="tags" value=""`}, "#work", "<dt>Tags")
}
