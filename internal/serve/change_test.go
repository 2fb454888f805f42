package serve

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func form(t *testing.T, db *sessiondb.DB) func(path, body string, header map[string]string) answer {
	t.Helper()
	s := serverOf(t, db, Options{})
	return func(path, body string, header map[string]string) answer {
		h := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		for k, v := range header {
			h[k] = v
		}
		return ask(t, s, http.MethodPost, path, body, h)
	}
}

func TestRename(t *testing.T) {
	db, _ := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"}, "x")
	create(t, db, sessiondb.NewSession{ID: "b"})
	post := form(t, db)
	if a := post("/rename", "id=a&title=+the++plan+", nil); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/session?id=a" {
		t.Errorf("status %d, to %q: %s", a.StatusCode, a.Header.Get("Location"), a.body)
	}
	if one, err := db.Session(t.Context(), "a"); err != nil || one.Title == nil || *one.Title != "the plan" {
		t.Errorf("%+v, %v", one.Title, err)
	}
	for body, want := range map[string]int{
		"id=b&title=the+plan":                        http.StatusConflict,
		"id=b&title=" + strings.Repeat("x", 101):     http.StatusBadRequest,
		"id=nope&title=x":                            http.StatusNotFound,
		"id=b&title=x&y=" + strings.Repeat("x", 1e5): http.StatusNotFound,
	} {
		a := post("/rename", body, nil)
		if a.StatusCode != want {
			t.Errorf("%.50s: status %d, want %d", body, a.StatusCode, want)
		}
		holds(t, a.body, []string{`role="alert"`})
	}
	cookie := "sessiondb-1=" + (&server{options: Options{Token: secret}}).cookieValue()
	stolen := map[string]string{"Authorization": "", "Cookie": cookie, "Host": "127.0.0.1:1", "Origin": "http://127.0.0.1:2"}
	if a := post("/rename", "id=a&title=stolen", stolen); a.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another page: status %d", a.StatusCode)
	}
}

func TestDelete(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 2)
	create(t, db, sessiondb.NewSession{ID: "sub", ParentID: "tip"})
	holds(t, get(t, s, "/delete?id=tip"), []string{"2 sessions and 4 messages are deleted", "without a parent: 1.", `action="/delete"`})
	if n, err := db.SessionCount(t.Context(), ""); err != nil || n != 3 {
		t.Fatalf("asking deleted: %d left, %v", n, err)
	}
	post := form(t, db)
	a := post("/delete", "id=tip", nil)
	if a.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s", a.StatusCode, a.body)
	}
	holds(t, a.body, []string{"2 sessions and 4 messages."})
	if n, err := db.SessionCount(t.Context(), ""); err != nil || n != 1 {
		t.Errorf("%d left, %v", n, err)
	}
	if a := post("/delete", "id=tip", nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("deleted twice: status %d", a.StatusCode)
	}
}

// Where nothing can be changed, no page offers to.
func TestPagesReadOnly(t *testing.T) {
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, "hermes-v11.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Sessions(t.Context(), sessiondb.ListFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := serverOf(t, db, Options{})
	holds(t, get(t, s, sessionURL(list[0].ID)), nil, "/delete", "/rename", `action="/tag"`)
	a := ask(t, s, http.MethodPost, "/rename", "id="+list[0].ID+"&title=x", map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if a.StatusCode != http.StatusForbidden {
		t.Errorf("status %d", a.StatusCode)
	}
}

func TestExport(t *testing.T) {
	db, s := store(t)
	compressed(t, db, 2)
	create(t, db, sessiondb.NewSession{ID: "sub", ParentID: "tip", Source: "cli"}, "password=hunter2hunter2 AKIAIOSFODNN7EXAMPLX \x1b[31m\u009b2J "+attack)
	for _, w := range []struct {
		path, kind, file string
		holds            []string
		lines            int
	}{
		{"/export", "application/x-ndjson", "sessions.jsonl", nil, 3},
		{"/export?source=cli", "application/x-ndjson", "sessions.jsonl", []string{"AKIAIOSFODNN7EXAMPLX"}, 1},
		{"/export?source=cli&redact=1", "application/x-ndjson", "sessions.jsonl", []string{"<script>"}, 1},
		{"/export?id=tip", "application/x-ndjson", "session-tip.jsonl", []string{`"id":"root"`}, 2},
		{"/export?id=tip&lineage=1", "application/x-ndjson", "session-tip.jsonl", nil, 3},
		{"/export?id=tip&format=markdown", "text/markdown; charset=utf-8", "session-tip.md", []string{"# root", "# tip", "text 1"}, 0},
		{"/export?id=sub&format=html", "text/html; charset=utf-8", "session-sub.html", []string{"&lt;script&gt;", "␛[31m\\u009b2J", "</html>"}, 0},
		{"/export?id=sub&format=markdown", "text/markdown; charset=utf-8", "session-sub.md", []string{"␛[31m\\u009b2J"}, 0},
	} {
		a := ask(t, s, http.MethodGet, w.path, "", nil)
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != w.kind || a.Header.Get("Content-Disposition") != `attachment; filename="`+w.file+`"` {
			t.Errorf("%s: status %d, %v", w.path, a.StatusCode, a.Header)
		}
		for _, h := range w.holds {
			if !strings.Contains(a.body, h) {
				t.Errorf("%s lacks %q: %s", w.path, h, a.body)
			}
		}
		if n := strings.Count(a.body, "\n"); w.lines > 0 && n != w.lines {
			t.Errorf("%s: %d lines, want %d", w.path, n, w.lines)
		}
	}
	if a := ask(t, s, http.MethodGet, "/export?source=cli&redact=1", "", nil); strings.Contains(a.body, "AKIAIOSFODNN7EXAMPLX") {
		t.Error("a key is not masked")
	}
	for path, want := range map[string]int{"/export?id=nope": 404, "/export?format=pdf": 400} {
		if a := ask(t, s, http.MethodGet, path, "", nil); a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, a.StatusCode, want)
		}
	}
}

// Each line is a comment or a sample, and what happened was counted.
func TestMetrics(t *testing.T) {
	db, s := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"}, "x", "y")
	get(t, s, "/")
	ask(t, s, http.MethodPost, "/rpc/set_session_title", `{"session_id":"a","title":"t"}`, nil)
	ask(t, s, http.MethodPost, "/rpc/get_session", `{"session_id":"nope"}`, nil)
	ask(t, s, "BREW", "/", "", nil)
	ask(t, s, http.MethodGet, "/", "", map[string]string{"Host": "evil.example"})
	text := get(t, s, "/metrics")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(text, "sessiondb_messages") && time.Now().Before(deadline); {
		text = get(t, s, "/metrics") // what takes long to count is told when it is known
	}
	sample := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$`)
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !sample.MatchString(line) {
			t.Errorf("not a sample: %s", line)
		}
	}
	for _, want := range []string{
		"sessiondb_up 1", "sessiondb_sessions 1", "sessiondb_messages 2", "sessiondb_http_in_flight 1", "sessiondb_write_seconds_count 1",
		`sessiondb_http_requests_total{route="/",method="GET",status="200"} 1`,
		`sessiondb_http_requests_total{route="/rpc/{method}",method="POST",status="404"} 1`,
		`sessiondb_http_requests_total{route="other",method="GET",status="403"} 1`,
		`sessiondb_calls_total{method="get_session",kind="not_found"} 1`, `sessiondb_calls_total{method="set_session_title",kind="ok"} 1`,
		`sessiondb_http_request_seconds_bucket{route="/",le="+Inf"} `, "sessiondb_busy_total 0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
}
