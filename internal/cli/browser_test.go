package cli_test

import (
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/browsertest"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

var pictures = flag.String("pictures", "", "a `FOLDER` for pictures of the pages (make pictures)")

const hostile = `<script>window.pwned = 1</script><img src="x" onerror="window.pwned = 2"> [click](javascript:window.pwned=3) <svg onload="window.pwned=4">`

// shownStore is the store of the demo, with a session that means harm.
func shownStore(t *testing.T) string {
	t.Helper()
	path := demoStore(t)
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	evil := hostile
	if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: "evil", Source: hostile, Model: hostile}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []sessiondb.Message{
		{Role: "user", Content: sessiondb.Text("an injection: " + hostile)},
		{Role: "assistant", Content: sessiondb.Text(hostile), Reasoning: &evil, ToolCalls: []byte(`[{"function":{"name":"run","arguments":"{\"a\":\"<script>window.pwned=5</script>\"}"}}]`)},
		{Role: "tool", ToolName: &evil, Content: sessiondb.Text(hostile)},
	} {
		if _, err := db.AppendMessage(t.Context(), "evil", m); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestBrowser drives the pages of the real program in Chromium.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	program := browsertest.Find()
	if program == "" {
		t.Skip(browsertest.Missing)
	}
	b, err := browsertest.Start(program)
	if err != nil {
		t.Skip(err) // a machine on which no browser runs says nothing of the pages
	}
	t.Cleanup(b.Close)
	path := shownStore(t)
	_, link := startServe(t, "--listen", "127.0.0.1:0", "--db", path)
	w := &walk{b: b, link: link, path: path}
	t.Run("search, open, fold", w.search)
	t.Run("charts", w.charts)
	t.Run("new messages", w.follow)
	t.Run("rename and delete", w.change)
	t.Run("an injection", w.inject)
	if *pictures != "" {
		t.Run("pictures", w.pictures)
	}
}

// walk is a way through the pages.
type walk struct {
	b    *browsertest.Browser
	link *url.URL
	path string // of the store
}

// at opens a page by its path, with the token.
func (w *walk) at(t *testing.T, path string) *browsertest.Page {
	t.Helper()
	return w.sized(t, path, 1100, 760, false)
}

func (w *walk) sized(t *testing.T, path string, width, height int, dark bool) *browsertest.Page {
	t.Helper()
	to := *w.link
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("token", w.link.Query().Get("token"))
	to.Path, to.RawQuery = u.Path, q.Encode()
	p := w.b.Open(t, width, height, dark, to.String())
	p.Until(`document.querySelector("header.top") && !location.search.includes("token")`)
	return p
}

func (w *walk) search(t *testing.T) {
	p := w.at(t, "/")
	p.Until(`document.querySelectorAll("#list .sessions li").length > 3`)
	p.Do(`window.same = true`)
	p.Type("/") // goes to the search
	p.Type("docker")
	p.Until(`document.querySelector("#list mark")?.textContent.toLowerCase() === "docker" && location.search === "?q=docker"`)
	if p.Value(`window.same`) != true {
		t.Error("the page was loaded anew")
	}
	p.Go(w.page("/?q=docker&order=oldest")) // stays while another word is typed
	p.Click("#search input")
	p.Type(" image")
	p.Until(`new URLSearchParams(location.search).get("q").endsWith("image") && location.search.includes("order=oldest")`)
	p.Go(w.page("/?q=docker&order=rank")) // is for this word
	p.Click("#search input")
	p.Type(" image")
	p.Until(`new URLSearchParams(location.search).get("q").endsWith("image") && !location.search.includes("order")`)
	p.Go(w.page("/?q=docker"))
	p.Click("#list .sessions a")
	p.Until(`location.pathname === "/session" && document.querySelector(location.hash)?.textContent.toLowerCase() === "docker"`)
	const seen = `(([top, bottom]) => top >= 0 && bottom <= innerHeight)((({top, bottom}) => [top, bottom])(document.querySelector(location.hash).getBoundingClientRect()))`
	p.Until(seen)
	p.Do(`window.first = location.hash`)
	p.Type("n") // the next match, and back
	p.Until(`location.hash !== first && document.querySelector(location.hash).matches("mark") && ` + seen)
	p.Do(`for (const d of document.querySelectorAll("details")) d.open = false`)
	p.Type("N")
	p.Until(`location.hash === first && ` + seen)
	if wrong := p.Wrong(); wrong != "" {
		t.Error(wrong)
	}
	p.Go(w.page("/session?id=evil"))
	if p.Value(`document.querySelector(".message.tool details").open`) != false {
		t.Error("what a tool answered is not folded")
	}
	p.Click(".message.tool summary")
	p.Until(`document.querySelector(".message.tool details").open`)
	p.Click(".actions button") // unfolds the others too
	p.Until(`[...document.querySelectorAll(".message details")].every((d) => d.open)`)
}

// page is the address of a page, for who has the cookie.
func (w *walk) page(path string) string {
	to := *w.link
	to.Path, to.RawQuery = "", ""
	return to.String() + path
}

func (w *walk) charts(t *testing.T) {
	p := w.at(t, "/usage?days=0")
	p.Until(`document.querySelectorAll("svg.chart").length === 3 && document.querySelectorAll("svg.chart rect").length > 10`)
	if v, ok := p.Value(`document.querySelector("svg.chart rect").getBoundingClientRect().height`).(float64); !ok || v <= 0 {
		t.Errorf("a bar is %v high", v)
	}
	if fill := p.Value(`getComputedStyle(document.querySelector("svg.chart rect.input")).fill`); fill == "rgb(0, 0, 0)" {
		t.Error("the charts have no colours")
	}
}

// follow stores messages beside the server, which the page then shows.
func (w *walk) follow(t *testing.T) {
	db, err := sqlite.Open(t.Context(), w.path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p := w.at(t, "/session?id=evil")
	p.Until(`document.querySelectorAll(".message").length >= 3`)
	for i := 0; p.Value(`document.querySelector("#messages").textContent.includes("it came later")`) != true; i++ {
		if i == 10_000 {
			t.Fatal("no new message comes")
		}
		if _, err := db.AppendMessage(t.Context(), "evil", sessiondb.Message{Role: "user", Content: sessiondb.Text("it came later")}); err != nil {
			t.Fatal(err)
		}
	}
	if p.Value(`new Set([...document.querySelectorAll(".message")].map((m) => m.id)).size === document.querySelectorAll(".message").length`) != true {
		t.Error("a message is there twice")
	}
}

func (w *walk) change(t *testing.T) {
	p := w.at(t, "/session?id=evil")
	p.Click(".rename summary")
	p.Click(".rename input[name=title]")
	p.Type("a new name")
	p.Click(".rename button")
	p.Until(`document.querySelector("h1").textContent === "a new name"`)
	p.Click(".actions .danger")
	p.Until(`location.pathname === "/delete" && document.querySelector("h1").textContent.includes("a new name")`)
	p.Click(".dialog a") // keep it
	p.Until(`location.pathname === "/session"`)
}

// inject looks at every page that shows what the session holds, and deletes it.
func (w *walk) inject(t *testing.T) {
	p := w.at(t, "/")
	for _, path := range []string{"/", "/?q=injection", "/session?id=evil", "/session?id=evil#m-1", "/lineage?id=evil", "/usage?days=0", "/delete?id=evil"} {
		p.Go("about:blank")
		p.Go(w.page(path))
		p.Until(`document.querySelector("header.top")`)
		if wrong := p.Wrong(); wrong != "" {
			t.Errorf("%s: %v", path, wrong)
		}
		p.Do(`for (const a of document.querySelectorAll("main a[href^='javascript']")) a.click()`)
		if v := p.Value(`window.pwned ?? null`); v != nil {
			t.Errorf("%s: what a transcript holds ran: %v", path, v)
		}
		if n := p.Value(`document.querySelectorAll("main script, main img, main iframe, main [onerror], main [onload], main a[href^='javascript']").length`); n != 0.0 {
			t.Errorf("%s: %v elements of a transcript", path, n)
		}
	}
	p.Click("form button.danger")
	p.Until(`document.querySelector("[role=status]")?.textContent.includes("1 session")`)
	p.Go(w.page("/session?id=evil"))
	p.Until(`document.querySelector("[role=alert]")`)
}

// pictures takes pictures of the pages.
func (w *walk) pictures(t *testing.T) {
	const session = "/session?id=20260504_092000_d0cc03"
	for _, s := range []struct {
		name, path    string
		width, height int
		dark          bool
	}{
		{"sessions", "/", 1000, 640, false},
		{"search-dark", "/?q=docker", 1000, 640, true},
		{"conversation", session, 1000, 760, false},
		{"conversation-dark", session, 1000, 760, true},
		{"conversation-phone", session, 390, 780, false},
		{"sessions-phone", "/", 390, 780, true},
		{"matches", session + "&q=docker", 1000, 760, false},
		{"matches-dark", session + "&q=docker", 1000, 760, true},
		{"matches-phone", session + "&q=docker", 390, 780, false},
		{"choice", "/session?id=2026", 1000, 480, false},
		{"nowhere-phone", "/nowhere", 390, 480, true},
		{"lineage", "/lineage?id=20260504_092000_d0cc03", 1000, 480, false},
		{"usage", "/usage?days=0", 1000, 1000, false},
		{"usage-phone", "/usage?days=0", 390, 780, true},
		{"health", "/health", 1000, 480, false},
		{"delete", "/delete?id=20260504_092000_d0cc03", 1000, 400, true},
	} {
		t.Run(s.name, func(t *testing.T) { // which closes the page: a browser has six connections to a server
			p := w.sized(t, s.path, s.width, s.height, s.dark)
			if wide := p.Value(`document.documentElement.scrollWidth > innerWidth`); wide != false {
				t.Errorf("%s is wider than the screen", s.name)
			}
			if err := os.WriteFile(filepath.Join(*pictures, s.name+".png"), p.Picture(), 0o644); err != nil { // #nosec G306 -- to be looked at
				t.Error(err)
			}
		})
	}
}

// demoStore makes the store of the demo and returns its path.
func demoStore(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sessiondb", "demo", "--keep")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir(), "TMP="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, path, ok := strings.Cut(string(out), "the store of the demo is ")
	if !ok {
		t.Fatalf("it names no store: %s", out)
	}
	return strings.TrimSpace(path)
}
