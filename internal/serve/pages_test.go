package serve

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

// holds checks what stands on a page, and what must not.
func holds(t *testing.T, page string, wanted []string, unwanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q:\n%s", w, page)
		}
	}
	for _, u := range append(unwanted, "<script>", "<img", "style=", "javascript:") {
		if strings.Contains(page, u) {
			t.Errorf("the page holds %q:\n%s", u, page)
		}
	}
}

func TestSessionsPage(t *testing.T) {
	db, s := store(t)
	holds(t, get(t, s, "/"), []string{"<!doctype html>", "There is no session yet.", `lang="en"`, "<main", `role="search"`, "Skip to the content"})
	create(t, db, sessiondb.NewSession{ID: "one", Source: "cli", Model: attack}, "how do I deploy?", "with docker "+attack)
	create(t, db, sessiondb.NewSession{ID: attack, Source: attack}, attack+" 배포")
	page := get(t, s, "/")
	holds(t, page, []string{"how do I deploy?", "2 messages", `href="/session?id=one"`, "<option>cli</option>", "&lt;script&gt;alert(1)"})
	if strings.Index(page, `id=one`) < strings.Index(page, `id=%22`) {
		t.Error("the newest session is not first")
	}
	holds(t, get(t, s, "/?source=cli"), []string{`id=one`, `<option selected>cli</option>`}, "id=%22")
	holds(t, get(t, s, "/?q=docker"), []string{"<mark>docker</mark>", `href="/session?id=one&amp;m=2&amp;q=docker#m-2-1"`, "1 hit<"}, "id=%22")
	holds(t, get(t, s, "/?q=docker+nowhere"), []string{"Nothing found for", "finds 1 message<", `href="/?q=docker"`})
	holds(t, get(t, s, "/?part=list&q=docker"), []string{"<mark>docker</mark>"}, "<html", "<main")
	holds(t, get(t, s, "/?q="+strings.Repeat("%28%22", 50)), nil)
}

func TestPagesOfSessions(t *testing.T) {
	db, s := store(t)
	want := map[string]bool{}
	for i := range 2*listPage + 5 {
		want[create(t, db, sessiondb.NewSession{ID: fmt.Sprintf("s%03d", i)})] = true
	}
	seen := map[string]bool{}
	path := "/"
	for pages := 1; ; pages++ {
		page := get(t, s, path)
		for _, m := range regexp.MustCompile(`href="/session\?id=(s\d+)"`).FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		next := regexp.MustCompile(`href="(/\?[^"]*)" rel="next"`).FindStringSubmatch(page)
		if next == nil {
			if pages != 3 || len(seen) != len(want) {
				t.Errorf("%d sessions on %d pages", len(seen), pages)
			}
			break
		}
		path = next[1]
	}
	holds(t, get(t, s, path), []string{`href="/?offset=50" rel="prev"`})
}

// ids are the messages on a page, in order.
func ids(page string) (out []string) {
	for _, m := range regexp.MustCompile(`id="m-(\d+)"`).FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// compressed is a chain of two sessions with so many messages each.
func compressed(t *testing.T, db *sessiondb.DB, n int) {
	t.Helper()
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	create(t, db, sessiondb.NewSession{ID: "root"}, texts...)
	if err := db.EndSession(t.Context(), "root", "compression"); err != nil {
		t.Fatal(err)
	}
	create(t, db, sessiondb.NewSession{ID: "tip", ParentID: "root"}, texts...)
}

func TestConversationPage(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 3)
	create(t, db, sessiondb.NewSession{ID: "sub", ParentID: "tip"}, "delegated")
	evil := attack
	if _, err := db.AppendMessage(t.Context(), "tip", sessiondb.Message{Role: "assistant", Content: sessiondb.Text(attack + "\n\n**bold**"), Reasoning: &evil,
		ToolCalls: []byte(`[{"id":"1","function":{"name":"run","arguments":"{\"command\":\"ls\"}"}}]`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AppendMessage(t.Context(), "tip", sessiondb.Message{Role: "tool", ToolName: &evil, Content: sessiondb.Text(strings.Repeat("x", maxShown+1))}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"root", "tip"} { // both are the same conversation
		page := get(t, s, "/session?id="+id)
		holds(t, page, []string{"Part 1 of 2", "Part 2 of 2", "<strong>bold</strong>", "<details><summary>calls <b>run</b>", "<summary>Reasoning</summary>",
			`href="/message?id=tip&amp;m=9">Show all of it</a> (21 KB)`, `href="/session?id=sub"`, `href="/session?id=tip&amp;m=8#m-8"`, `data-session="tip" data-live="messages"`})
		if got := ids(page); !slices.Equal(got, []string{"1", "2", "3", "4", "5", "6", "8", "9"}) {
			t.Errorf("messages %s", got)
		}
	}
	holds(t, get(t, s, "/message?id=tip&m=9"), []string{strings.Repeat("x", maxShown+1)})
	if got := ids(get(t, s, "/session?id=tip&part=messages&after=6")); !slices.Equal(got, []string{"8", "9"}) {
		t.Errorf("messages after 6: %s", got)
	}
	for _, path := range []string{"/session?id=nope", "/session", "/message?id=tip&m=7", "/lineage?id=nope"} {
		a := ask(t, s, http.MethodGet, path, "", nil)
		if a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
		holds(t, a.body, []string{"not found"})
	}
}

// However one goes through a long conversation, each message comes once and in
// order.
func TestLongConversation(t *testing.T) {
	db, s := store(t)
	const each = readPage + 50
	compressed(t, db, each)
	link := func(page, rel string) string {
		m := regexp.MustCompile(`href="([^"]*)" rel="` + rel + `"`).FindStringSubmatch(page)
		if m == nil {
			return ""
		}
		return strings.ReplaceAll(m[1], "&amp;", "&")
	}
	var down, up []string
	for path := "/session?id=tip"; path != ""; {
		page := get(t, s, path)
		down, path = append(down, ids(page)...), link(page, "next")
	}
	for path := "/session?id=root&end=1"; path != ""; {
		page := get(t, s, path)
		up, path = append(ids(page), up...), link(page, "prev")
	}
	for what, got := range map[string][]string{"down": down, "up": up} {
		if len(got) != 2*each {
			t.Errorf("%s: %d messages, want %d", what, len(got), 2*each)
		}
		for i, id := range got {
			if id != fmt.Sprint(i+1) {
				t.Fatalf("%s: message %s in place %d", what, id, i)
			}
		}
	}
	page := get(t, s, fmt.Sprintf("/session?id=tip&m=%d", each+20))
	if got := ids(page); len(got) > readPage+1 || !slices.Contains(got, fmt.Sprint(each+20)) || link(page, "prev") == "" || link(page, "next") == "" {
		t.Errorf("%d messages around one: %s", len(got), got)
	}
}

func TestLineagePage(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 1)
	create(t, db, sessiondb.NewSession{ID: "sub", ParentID: "tip"})
	page := get(t, s, "/lineage?id=tip")
	holds(t, page, []string{`<b class="kind continuation">continuation</b>`, `<b class="kind delegate">delegate</b>`, `aria-current="true"`})
	for _, order := range [][2]string{{"id=root", "id=tip"}, {"id=tip", "id=sub"}} {
		if strings.Index(page, order[0]) > strings.Index(page, order[1]) {
			t.Errorf("%s stands below %s", order[0], order[1])
		}
	}
	if open, end := strings.Count(page, "<ul"), strings.Count(page, "</ul>"); open != 3 || end != 3 {
		t.Errorf("%d lists, %d ends", open, end)
	}
}

func TestUsagePage(t *testing.T) {
	db, s := store(t)
	holds(t, get(t, s, "/usage"), []string{"No session began in that time."})
	create(t, db, sessiondb.NewSession{ID: "a", Source: "cli", Model: attack}, "x")
	cost := 1.25
	if err := db.UpdateUsage(t.Context(), "a", sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 12345, Output: 678}, EstimatedCostUSD: &cost}); err != nil {
		t.Fatal(err)
	}
	tool := "terminal"
	if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "tool", ToolName: &tool}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/usage", "/usage?days=0", "/usage?days=7&source=cli"} {
		page := get(t, s, path)
		holds(t, page, []string{"12,345", "$1.25", `aria-label="Tokens by day"`, `aria-label="Messages by day of the week and hour"`, "terminal", "&lt;script&gt;", `href="/session?id=a"`})
		if n := strings.Count(page, `<rect class="cost"`); n != 1 {
			t.Errorf("%s: %d bars of costs", path, n)
		}
	}
	holds(t, get(t, s, "/usage?source=telegram"), []string{"No session began in that time."})
}

// Days on which nothing happened are in a chart, also in the nights when clocks
// change.
func TestEveryDay(t *testing.T) {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Skip(err)
	}
	rows := []sessiondb.UsageRow{{Key: "2018-11-06", Sessions: 2}, {Key: "2018-11-02", Sessions: 1}, {Key: ""}}
	var got []string
	for _, d := range everyDay(rows, time.Time{}, time.Date(2019, 1, 1, 0, 0, 0, 0, zone)) {
		got = append(got, fmt.Sprint(d.Day[8:], ":", d.Sessions))
	}
	if want := "02:1 03:0 04:0 05:0 06:2"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHealthPage(t *testing.T) {
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, "hermes-v11.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serverOf(t, db, Options{})
	holds(t, get(t, s, "/health"), []string{"Look for damage", "version 11", "reading"})
	if a := ask(t, s, http.MethodPost, "/check", "", nil); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/health" {
		t.Errorf("status %d, to %s", a.StatusCode, a.Header.Get("Location"))
	}
	page := get(t, s, "/health")
	for deadline := time.Now().Add(time.Minute); strings.Contains(page, `role="status"`) && time.Now().Before(deadline); {
		page = get(t, s, "/health")
	}
	holds(t, page, []string{`id="findings"`, "Looked at"})
}

// A page of events tells of what another handle stores.
func TestEvents(t *testing.T) {
	db, s := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"}, "before")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != "retry: 3000" || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%q, %v", lines.Text(), res.Header)
	}
	stored := make(chan error, 1)
	stop := make(chan struct{})
	go func() { // the watch begins after the answer: so until one was seen
		for {
			if _, err := db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user"}); err != nil {
				stored <- err
				return
			}
			select {
			case <-stop:
				stored <- nil
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e event
			decode(t, data, &e)
			if e.Session != "a" || e.Role != "user" || e.Message < 2 {
				t.Errorf("%+v", e)
			}
			break
		}
	}
	close(stop)
	if err := <-stored; err != nil {
		t.Error(err)
	}
}

// What pages load is there without the token, and may be kept.
func TestAssets(t *testing.T) {
	db, s := store(t)
	_ = db
	page := get(t, s, "/")
	found := regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(found) != 3 {
		t.Errorf("%d files", len(found))
	}
	for _, m := range found {
		a := ask(t, s, http.MethodGet, m[1], "", map[string]string{"Authorization": ""})
		if a.StatusCode != 200 || len(a.body) < 50 || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, %d bytes, %q", m[1], a.StatusCode, len(a.body), a.Header.Get("Cache-Control"))
		}
	}
	if a := ask(t, s, http.MethodGet, "/static/app.go", "", nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", a.StatusCode)
	}
}
