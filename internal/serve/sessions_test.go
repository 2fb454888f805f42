package serve

import (
	"fmt"
	"html"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// commonWord is a server that ranks ten messages, of a store where thirty sessions
// hold a word: the older ones, more than it.
func commonWord(t *testing.T) *httptest.Server {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		create(t, db, sessiondb.NewSession{ID: fmt.Sprintf("s%02d", i), Source: []string{"cli", "cron"}[i%2]}, "docker"+strings.Repeat(" filler", i))
	}
	create(t, db, sessiondb.NewSession{ID: "rare"}, "podman")
	s := newServer(t.Context(), db, Options{Token: secret, Local: true})
	s.ranked = 10
	h := httptest.NewServer(s.handler())
	t.Cleanup(func() {
		h.Close()
		_ = db.Close()
	})
	return h
}

// found are the sessions of hits on a page, in order.
func found(page string) (out []string) {
	for _, m := range regexp.MustCompile(`href="/session\?id=(s\d+)&amp;m=`).FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

func linkTo(t *testing.T, page, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(`href="([^"]*)"` + pattern).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no link %s:\n%s", pattern, page)
	}
	return html.UnescapeString(m[1])
}

// The newest hits of a common word come first, unless the best are asked for, and
// each page goes on in the order of the one before.
func TestCommonWord(t *testing.T) {
	s := commonWord(t)
	var best []string
	for i := range 30 {
		best = append(best, fmt.Sprintf("s%02d", i))
	}
	newest := slices.Clone(best)
	slices.Reverse(newest)
	const notice = "More than 10 messages hold this: the newest come first."
	check := func(page string, want []string) {
		t.Helper()
		if got := found(page); !slices.Equal(got, want) {
			t.Errorf("found %v, not %v", got, want)
		}
	}
	first := get(t, s, "/?q=docker")
	holds(t, first, []string{notice, `<option value="">best first`})
	check(first, newest[:20])
	check(get(t, s, linkTo(t, first, ` rel="next"`)), newest[20:])

	ranked := get(t, s, linkTo(t, first, `>Rank them`))
	holds(t, ranked, []string{`<option value="rank">best first`}, notice)
	check(ranked, best[:20])
	second := get(t, s, linkTo(t, ranked, ` rel="next"`))
	check(second, best[20:])
	check(get(t, s, linkTo(t, second, ` rel="prev"`)), best[:20])

	holds(t, get(t, s, "/?q=docker&order=newest"), nil, notice)
	holds(t, get(t, s, "/?q=docker&order=start"), []string{notice})
	holds(t, get(t, s, "/?q=podman"), []string{"1 hit<"}, "More than")
	holds(t, get(t, s, "/?q=docker&source=cron"), []string{notice, `href="/?order=rank&amp;q=docker&amp;source=cron"`})
	holds(t, get(t, s, "/?part=list&q=docker"), []string{notice})
}

// While one types, the last word stands for those that begin so, on the pages that
// follow too; a letter or two are no word yet.
func TestTyping(t *testing.T) {
	s := commonWord(t)
	if ids := found(get(t, s, "/?part=list&q=dock")); len(ids) != 0 {
		t.Errorf("half a word finds %v", ids)
	}
	first := get(t, s, "/?part=list&typing=1&q=dock")
	rest := get(t, s, linkTo(t, first, " rel=\"next\""))
	if n := len(found(first)) + len(found(rest)); n != 30 {
		t.Errorf("%d of 30 sessions while typing", n)
	}
	if page := get(t, s, "/?part=list&typing=1&q=do"); !strings.Contains(page, "s29") || strings.Contains(page, "do*") {
		t.Errorf("two letters are searched for:\n%s", page)
	}
}
