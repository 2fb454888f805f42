package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testSearch(t *testing.T, h *harness) {
	t.Run("what people type", func(t *testing.T) { whatPeopleType(t, h) })
	t.Run("filters", func(t *testing.T) { searchFilters(t, h) })
	t.Run("filters that many sessions pass", func(t *testing.T) { searchManySessions(t, h) })
	t.Run("pages", func(t *testing.T) { searchPages(t, h) })
	t.Run("ranked at most", func(t *testing.T) { maxRanked(t, h) })
	t.Run("tools and parts", func(t *testing.T) { searchTools(t, h) })
	t.Run("nothing found", func(t *testing.T) { nothingFound(t, h) })
	t.Run("any bytes", func(t *testing.T) { anyBytes(t, h) })
	t.Run("context", func(t *testing.T) { searchContext(t, h) })
	t.Run("conversations", func(t *testing.T) { conversations(t, h) })
	t.Run("conversations by time", func(t *testing.T) { conversationsByTime(t, h) })
}

// searchStore holds searchTexts, and tells the name of each message.
func searchStore(t *testing.T, h *harness) (*sessiondb.DB, map[int64]string) {
	t.Helper()
	db, _ := h.store(t)
	id := session(t, db, "s")
	names := map[int64]string{}
	for _, name := range slices.Sorted(maps.Keys(searchTexts)) {
		names[say(t, db, id, searchTexts[name])[0]] = name
	}
	return db, names
}

func whatPeopleType(t *testing.T, h *harness) {
	db, names := searchStore(t, h)
	check := func(q sessiondb.SearchQuery, want string) {
		t.Helper()
		if want == "*" {
			want = strings.Join(namesWith(q.Text), " ")
		}
		for _, sort := range []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest, sessiondb.Oldest} {
			q.Sort, q.Limit = sort, -1
			r, err := db.Search(t.Context(), q)
			if err != nil {
				t.Errorf("%q: %v", q.Text, err)
				return
			}
			var got []string
			for _, hit := range r.Hits {
				got = append(got, names[hit.MessageID])
				if !strings.Contains(hit.Snippet, ">>>") {
					t.Errorf("%q: no mark in %q", q.Text, hit.Snippet)
				}
			}
			slices.Sort(got)
			expect := strings.Fields(want)
			slices.Sort(expect)
			if !slices.Equal(got, expect) {
				t.Errorf("%q %s, read as %s, finds %v, not %v", q.Text, sort, r.Understood, got, expect)
			}
		}
	}
	for _, q := range searchQueries {
		check(sessiondb.SearchQuery{Text: q[0]}, q[1])
	}
	for _, q := range substringQueries {
		check(sessiondb.SearchQuery{Text: q[0], Substring: true}, q[1])
	}
}

func namesWith(s string) (out []string) {
	for name, text := range searchTexts {
		if strings.Contains(strings.ToLower(text), s) {
			out = append(out, name)
		}
	}
	return out
}

// found runs a search and returns the ids of the hits.
func found(t *testing.T, db *sessiondb.DB, q sessiondb.SearchQuery) (ids []int64) {
	t.Helper()
	for _, hit := range must[sessiondb.SearchResult](t)(db.Search(t.Context(), q)).Hits {
		ids = append(ids, hit.MessageID)
	}
	return ids
}

func searchFilters(t *testing.T, h *harness) {
	db, c := h.store(t)
	opus := "claude-opus-4"
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli", Model: opus}))
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "b", Source: "cron"}))
	noError(t, db.SetTitle(t.Context(), "a", "My 100% plan"))
	noError(t, db.EndSession(t.Context(), "b", "done"))
	add := func(session, role string, tool *string, content string) int64 {
		c.add(24 * time.Hour)
		return must[int64](t)(db.AppendMessage(t.Context(), session, sessiondb.Message{Role: role, ToolName: tool, Content: sessiondb.Text(content)}))
	}
	terminal := "terminal"
	m1 := add("a", "user", nil, "zebra one")
	m2 := add("a", "tool", &terminal, "zebra two")
	m3 := add("b", "assistant", nil, "zebra three")
	c.add(time.Hour)
	day := func(n int) string { return start.AddDate(0, 0, n).Format(time.DateOnly) }
	for _, q := range []struct {
		text string
		want []int64
	}{
		{"zebra source:cron", []int64{m3}}, {"zebra -source:cron", []int64{m1, m2}}, {"source:cli source:cron zebra", []int64{m1, m2, m3}},
		{"zebra role:user", []int64{m1}}, {"zebra -role:user", []int64{m2, m3}}, {"zebra model:opus", []int64{m1, m2}}, {"zebra -model:opus", []int64{m3}},
		{"zebra session:a", []int64{m1, m2}}, {"-session:a zebra", []int64{m3}}, {"zebra title:plan", []int64{m1, m2}}, {`zebra title:"100% p"`, []int64{m1, m2}},
		{"zebra title:1000", nil}, {"zebra -title:plan", []int64{m3}}, {"zebra tool:terminal", []int64{m2}}, {"zebra -tool:terminal", []int64{m1, m3}},
		{"zebra is:ended", []int64{m3}}, {"zebra -is:ended", []int64{m1, m2}}, {"zebra after:" + day(3), []int64{m3}}, {"zebra before:" + day(2), []int64{m1}},
		{"zebra after:" + day(2) + " before:" + day(3), []int64{m2}}, {"zebra after:2d", []int64{m2, m3}}, {"zebra before:36h", []int64{m1}},
		{"zebra source: cron", nil}, {"zebra (source:cron OR two)", nil}, {"source:cron", nil}, {"zebra source:nope", nil},
	} {
		if got := found(t, db, sessiondb.SearchQuery{Text: q.text, Sort: sessiondb.Oldest}); !slices.Equal(got, q.want) {
			t.Errorf("%q finds %v, not %v", q.text, got, q.want)
		}
	}
	fields := []sessiondb.SearchQuery{
		{Sources: []string{"cron"}}, {ExcludeSources: []string{"cli"}}, {Roles: []string{"assistant"}}, {Sessions: []string{"b"}}, {ExcludeSessions: []string{"a"}},
	}
	for _, q := range fields {
		q.Text = "zebra"
		if got := found(t, db, q); !slices.Equal(got, []int64{m3}) {
			t.Errorf("%+v finds %v", q, got)
		}
	}
}

// searchManySessions has more sessions pass a filter than are named to an engine.
func searchManySessions(t *testing.T, h *harness) {
	db, _ := h.store(t)
	var sources []string
	for i := range 203 {
		sources = append(sources, []string{"cli", "cron"}[min(1, i/201)])
		id := must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: fmt.Sprintf("%c%03d", 'S'+i%2, i), Source: sources[i]}))
		say(t, db, id, "zebra")
	}
	for text, want := range map[string]int{
		"zebra source:cli": 201, "zebra source:cron": 2, "zebra -source:cron": 201, "zebra -source:cli": 2, "zebra is:ended": 0, "zebra -is:ended": 203,
		"zebra session:S": 102, "zebra session:S000": 1, "zebra source:cli session:T201": 0, "zebra source:cron session:T201": 1,
	} {
		n := len(found(t, db, sessiondb.SearchQuery{Text: text, Limit: -1}))
		grouped := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: text, Limit: -1, CountTotal: true}))
		if n != want || len(grouped.Conversations) != want || *grouped.Total != int64(want) {
			t.Errorf("%q finds %d messages in %d conversations, counts %d, not %d", text, n, len(grouped.Conversations), *grouped.Total, want)
		}
	}
}

// searchPages cuts equal hits into pages.
func searchPages(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "s")
	for range 50 {
		say(t, db, id, "the same words 배포")
	}
	for _, text := range []string{"same", "배포", "same 배포", "words OR 배"} {
		for _, sort := range []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest, sessiondb.Oldest} {
			whole := found(t, db, sessiondb.SearchQuery{Text: text, Sort: sort, Limit: -1})
			if len(whole) != 50 {
				t.Fatalf("%q %s: %d hits", text, sort, len(whole))
			}
			var pages []int64
			for len(pages) < 50 {
				page := found(t, db, sessiondb.SearchQuery{Text: text, Sort: sort, Limit: 7, Offset: len(pages)})
				if len(page) == 0 {
					t.Fatalf("%q %s: an empty page after %d hits", text, sort, len(pages))
				}
				pages = append(pages, page...)
			}
			if diff := cmp.Diff(whole, pages); diff != "" {
				t.Errorf("%q %s: (-whole +pages)\n%s", text, sort, diff)
			}
		}
		r := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: text, CountTotal: true}))
		if r.Total == nil || *r.Total != 50 || len(r.Hits) != 20 {
			t.Errorf("%q: total %v of %d hits", text, r.Total, len(r.Hits))
		}
	}
}

func searchTools(t *testing.T, h *harness) {
	db, _ := h.store(t)
	id := session(t, db, "s")
	call := must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "assistant",
		ToolCalls: []byte(`[{"id":"c1","function":{"name":"terminal","arguments":"{\"command\": \"ls /srv\\nwhoami\", \"note\": \"\u5e7f\u897f\u6842\u6797 caf\u00e9\"}"}}]`)}))
	parts := must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user",
		Content: sessiondb.Structured([]byte(`[{"type":"text","text":"桂林 picture\nbelow"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`))}))
	for text, want := range map[string][]int64{
		"terminal": {call}, "whoami": {call}, "café": {call}, "广西桂林": {call}, "广西": {call}, "桂林": {call, parts}, "桂": {call, parts},
		"picture": {parts}, "below": {parts}, "/srv": {call}, "桂林 below": {parts},
	} {
		r := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: text, Sort: sessiondb.Oldest}))
		var got []int64
		for _, hit := range r.Hits {
			got = append(got, hit.MessageID)
			if strings.ContainsAny(hit.Snippet, "\\\x00") || strings.Contains(hit.Snippet, "base64") || !strings.Contains(hit.Snippet, ">>>") {
				t.Errorf("%q: snippet %q", text, hit.Snippet)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, not %v", text, got, want)
		}
	}
}

func nothingFound(t *testing.T, h *harness) {
	db, _ := searchStore(t, h)
	noError(t, db.SetTitle(t.Context(), "s", "Kubernetes migration"))
	ask := func(text string) sessiondb.SearchResult {
		t.Helper()
		return must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: text}))
	}
	r := ask("docker deployment unicorn")
	if len(r.Hits) > 0 || r.Understood != "docker AND deployment AND unicorn" {
		t.Errorf("%+v", r)
	}
	if len(r.Suggestions) == 0 || r.Suggestions[0].Query != "docker deployment" || r.Suggestions[0].Hits != 2 {
		t.Errorf("suggestions %+v", r.Suggestions)
	}
	for _, filter := range []string{"source:telegram", "after:2200", "session:x before:2200"} {
		if r := ask("docker " + filter); len(r.Suggestions) == 0 || r.Suggestions[0].Query != "docker" {
			t.Errorf("%s: suggestions %+v", filter, r.Suggestions)
		}
	}
	r = ask("kubernets migratoin")
	if len(r.Suggestions) != 1 || r.Suggestions[0].SessionID != "s" {
		t.Errorf("suggestions %+v", r.Suggestions)
	}
	for _, text := range []string{"", "...", "NOT docker"} {
		if r := ask(text); len(r.Notices) != 1 || r.Understood != "" {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// anyBytes searches for what nobody means.
func anyBytes(t *testing.T, h *harness) {
	db, _ := searchStore(t, h)
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, text := range []string{
		many("a", 5000), many("배", 1500), many("배", 5000), many("(", 5000) + "docker", many("(a OR ", 300) + many(")", 300), many("NOT ", 999) + "docker",
		many("docker ", 10000), many("x-", 3000) + "y", many("a* ", 300), many("배포 OR ", 300) + "x", many(`"a" `, 300), "\xff\xfe docker", "docker\x00 image",
		"\"\x00\"", "a\x00b", many("🚀", 700), "\u202edocker", many("-a ", 200), "tool: source: after:", "after:9999999999999d docker", "session:% docker",
		"'; DROP TABLE messages; --", "messages_fts MATCH 'a'", "{content} : docker", "NEAR(docker image, 5)", "^docker", "docker + image", "rank:bm25(1)",
	} {
		for _, sub := range []bool{false, true} {
			if _, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: text, Substring: sub}); err != nil {
				t.Errorf("%.40q (%d bytes): %v", text, len(text), err)
			}
		}
	}
}

func searchContext(t *testing.T, h *harness) {
	db, _ := h.store(t)
	a, b := session(t, db, "a"), session(t, db, "b")
	say(t, db, a, "first")
	for range 40 {
		say(t, db, b, "noise")
	}
	hit := say(t, db, a, "needle "+strings.Repeat("é", 300))[0]
	for range 40 {
		say(t, db, b, "noise")
	}
	say(t, db, a, "last", "beyond")
	r := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: "needle"}))
	want := []sessiondb.ContextMessage{
		{Role: "user", Content: "first"}, {Role: "user", Content: "needle " + strings.Repeat("é", 193)}, {Role: "user", Content: "last"},
	}
	if len(r.Hits) != 1 || r.Hits[0].MessageID != hit {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff(want, r.Hits[0].Context); diff != "" {
		t.Error(diff)
	}
}

func conversations(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "r1", "r2", "r3")
	h.sessions(t, db, "single", "mine")
	later := func(id string, texts ...string) int64 {
		c.add(time.Second)
		return say(t, db, id, texts...)[0]
	}
	later("r1", "zebra stripes", "one", "two", "three")
	best := later("r2", "zebra")
	later("r3", "tip of the zebra")
	later("single", "a zebra among many other words that make it long")
	later("mine", "zebra here")
	noError(t, db.SetTitle(t.Context(), "r2", "Animals"))
	r := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: "zebra", ExcludeSessions: []string{"mine"}, CountTotal: true}))
	if len(r.Conversations) != 2 || r.Total == nil || *r.Total != 4 {
		t.Fatalf("%+v", r)
	}
	g := r.Conversations[0]
	if g.Best.MessageID != best || g.Hits != 3 || g.RootID != "r1" || g.TipID != "r3" || g.Title == nil || *g.Title != "Animals" || g.Preview != "" || len(g.View.Window) != 1 {
		t.Errorf("%+v", g)
	}
	if s := r.Conversations[1]; s.RootID != "single" || s.TipID != "single" || s.Hits != 1 || s.Title != nil || s.Preview != "a zebra among many other words that make it long" {
		t.Errorf("%+v", s)
	}
	for _, sort := range []sessiondb.SearchSort{sessiondb.Newest, sessiondb.Oldest} {
		q := sessiondb.SearchQuery{Text: "zebra", Sort: sort, Limit: 1, Offset: 1}
		r := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), q))
		if len(r.Conversations) != 1 || r.Conversations[0].RootID != "single" {
			t.Errorf("%s: %+v", sort, r)
		}
	}
	without := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: "zebra", ExcludeSessions: []string{"r3", "mine"}}))
	if len(without.Conversations) != 1 || without.Conversations[0].RootID != "single" {
		t.Errorf("%+v", without)
	}
	some := []string{"r1", "single", "x1", "x2", "x3", "x4"} // more than a page needs, so that hits are counted apart
	h.sessions(t, db, some[2:]...)
	for _, id := range some[2:] {
		later(id, "zebra")
	}
	part := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: "zebra", Sessions: some, Sort: sessiondb.Oldest, Limit: 1}))
	if len(part.Conversations) != 1 || part.Conversations[0].RootID != "r1" || part.Conversations[0].Hits != 1 {
		t.Errorf("%+v", part)
	}
}
