package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testTags(t *testing.T, h *harness) {
	t.Run("a tag is on the whole conversation", func(t *testing.T) { tagsOfChain(t, h) })
	t.Run("the filter of a search", func(t *testing.T) { tagFilters(t, h) })
	t.Run("tags of rows", func(t *testing.T) { tagsOfRows(t, h) })
	t.Run("usage, watching and pruning by tag", func(t *testing.T) { tagsNarrow(t, h) })
	t.Run("what is no tag", func(t *testing.T) { tagsInvalid(t, h) })
	t.Run("tags go along", func(t *testing.T) { tagsGoAlong(t, h) })
}

func wantTags(t *testing.T, db *sessiondb.DB, id, want string) {
	t.Helper()
	if got := strings.Join(must[[]string](t)(db.Tags(t.Context(), id)), " "); got != want {
		t.Errorf("tags of %s: %q, want %q", id, got, want)
	}
}

// withTag are the conversations that a list shows for a tag.
func withTag(t *testing.T, db *sessiondb.DB, f sessiondb.ListFilter) string {
	t.Helper()
	var ids []string
	for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)) {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func tagsOfChain(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	wantTags(t, db, "b", "")
	if got := withTag(t, db, sessiondb.ListFilter{Tags: []string{"work"}}); got != "" {
		t.Errorf("tagged before: %s", got)
	}
	if tags := must[[]string](t)(db.Tag(t.Context(), "b", []string{"Work", "#urgent", "work"}, nil)); strings.Join(tags, " ") != "urgent work" {
		t.Errorf("tags %v", tags)
	}
	must[[]string](t)(db.Tag(t.Context(), "other", []string{"work", "일"}, nil))
	for _, id := range []string{"a", "b", "c"} {
		wantTags(t, db, id, "urgent work")
	}
	wantTags(t, db, "branch", "")
	for _, active := range []bool{false, true} {
		if got := withTag(t, db, sessiondb.ListFilter{Tags: []string{"work"}, ByLastActive: active}); got != "c other" {
			t.Errorf("tagged: %s", got)
		}
		if got := withTag(t, db, sessiondb.ListFilter{Tags: []string{"#Work"}, ByLastActive: active, Children: true, NoProjection: true}); got != "a b c other" {
			t.Errorf("tagged, each for itself: %s", got)
		}
	}
	// What continues the conversation has them too.
	noError(t, db.EndSession(t.Context(), "other", "compression"))
	c.add(time.Second)
	h.child(t, db, "other", "more", "cli")
	h.say(t, db, c, "more")
	wantTags(t, db, "more", "work 일")
	for tags, want := range map[string]int{"work": 5, "urgent": 3, "none": 0, "": 8, "work urgent": 3, "work none": 0, "#WORK": 5} {
		if got := len(found(t, db, sessiondb.SearchQuery{Text: "hello", Tags: strings.Fields(tags)})); got != want {
			t.Errorf("%q: %d hits, want %d", tags, got, want)
		}
	}
	if got := strings.Join(must[[]string](t)(db.TaggedSessions(t.Context(), "work")), " "); got != "a b c more other" {
		t.Errorf("sessions %s", got)
	}
	if got := strings.Join(must[[]string](t)(db.TaggedSessions(t.Context(), "work", "urgent")), " "); got != "a b c" {
		t.Errorf("sessions with both tags: %s", got)
	}
	all := must[[]sessiondb.TagCount](t)(db.AllTags(t.Context()))
	if want := []sessiondb.TagCount{{Tag: "work", Conversations: 2}, {Tag: "urgent", Conversations: 1}, {Tag: "일", Conversations: 1}}; !slices.Equal(all, want) {
		t.Errorf("tags %v", all)
	}
	if tags := must[[]string](t)(db.Tag(t.Context(), "c", nil, []string{"work", "none"})); strings.Join(tags, " ") != "urgent" {
		t.Errorf("tags %v", tags)
	}
	for _, line := range []string{" #Plan, work,,work", "", ""} {
		want := map[bool]string{true: "plan work"}[line != ""]
		if tags := must[[]string](t)(db.SetTags(t.Context(), "b", sessiondb.SplitTags(line))); strings.Join(tags, " ") != want {
			t.Errorf("set to %q: %v", line, tags)
		}
		wantTags(t, db, "c", want)
	}
	wantTags(t, db, "other", "work 일")
}

// tagFilters searches the family, where "hello" stands in each of its seven sessions.
func tagFilters(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	// A store in which nothing was ever tagged.
	for text, want := range map[string]int{"hello tag:work": 0, "hello -tag:work": 7, "tag:work": 0} {
		if got := found(t, db, sessiondb.SearchQuery{Text: text}); len(got) != want {
			t.Errorf("%s, before there are tags: %d hits, want %d", text, len(got), want)
		}
	}
	must[[]string](t)(db.Tag(t.Context(), "b", []string{"work", "urgent", "!"}, nil))
	must[[]string](t)(db.Tag(t.Context(), "other", []string{"work", "일"}, nil))
	for text, want := range map[string][]string{
		"hello tag:work":               {"a", "b", "c", "other"},
		"tag:#Work hello":              {"a", "b", "c", "other"},
		"hello tag:work tag:urgent":    {"a", "b", "c"},
		"hello tag:work -tag:urgent":   {"other"},
		"hello -tag:urgent -tag:일":     {"branch", "helper", "silent"},
		"hello tag:일 source:cli":       {"other"},
		"hello tag:!":                  {"a", "b", "c"},
		`hello tag:"work" tag:none`:    nil,
		"hello tag:wor":                nil,
		"hello tag:work\x00":           {"a", "b", "c", "other"},
		"hello -tag:none -tag:urgent*": {"a", "b", "c", "branch", "helper", "other", "silent"},
	} {
		for _, s := range []sessiondb.SearchSort{sessiondb.ByRank, sessiondb.Newest, sessiondb.Oldest} {
			var got []string
			for _, hit := range must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: text, Sort: s})).Hits {
				got = append(got, hit.SessionID)
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("%s %s finds %v, not %v", text, s, got, want)
			}
		}
	}
}

// tagsOfRows are those that lists and hits show.
func tagsOfRows(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	must[[]string](t)(db.Tag(t.Context(), "b", []string{"work", "urgent"}, nil))
	must[[]string](t)(db.Tag(t.Context(), "branch", []string{"side"}, nil))
	for _, f := range []sessiondb.ListFilter{{}, {ByLastActive: true}, {NoProjection: true}, {Children: true}, {Children: true, NoProjection: true}} {
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)) {
			if got, want := s.Tags, must[[]string](t)(db.Tags(t.Context(), s.ID)); !slices.Equal(got, want) {
				t.Errorf("%+v: %s has %v, not %v", f, s.ID, got, want)
			}
		}
	}
	want := map[string]string{"a": "[urgent work]", "c": "[urgent work]", "branch": "[side]"}
	got := must[map[string][]string](t)(db.TagsOf(t.Context(), "a", "c", "branch", "other", "none"))
	for _, id := range []string{"a", "c", "branch", "other", "none"} {
		if got, ok := got[id]; ok != (want[id] != "") || ok && fmt.Sprint(got) != want[id] {
			t.Errorf("%s has %v, not %s", id, got, want[id])
		}
	}
	for _, hit := range must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), sessiondb.SearchQuery{Text: "hello"})).Conversations {
		if got, want := hit.Tags, must[[]string](t)(db.Tags(t.Context(), hit.TipID)); !slices.Equal(got, want) {
			t.Errorf("the hit in %s has %v, not %v", hit.TipID, got, want)
		}
	}
}

// tagsNarrow asks for what is not a search by tag. Each session of the family has two
// messages, and used 15 tokens.
func tagsNarrow(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	for before, tags := range [][]string{{"work"}, {"work", "urgent"}, {"urgent", "none"}, {"work"}} {
		want := []int64{0, 3, 0, 4}[before]
		f := sessiondb.UsageFilter{Tags: tags}
		sum := func(rows []sessiondb.UsageRow) (tokens int64) {
			for _, r := range rows {
				tokens += r.Tokens.Input
			}
			return tokens
		}
		for name, rows := range map[string][]sessiondb.UsageRow{
			"model": must[[]sessiondb.UsageRow](t)(db.UsageByModel(t.Context(), f)), "source": must[[]sessiondb.UsageRow](t)(db.UsageBySource(t.Context(), f)),
			"day": must[[]sessiondb.UsageRow](t)(db.UsageByDay(t.Context(), f)),
		} {
			if got := sum(rows); got != 15*want {
				t.Errorf("%v by %s: %d tokens, not %d", tags, name, got, 15*want)
			}
		}
		if got := must[[]sessiondb.Session](t)(db.TopSessions(t.Context(), f, -1)); int64(len(got)) != want {
			t.Errorf("top sessions of %v: %d", tags, len(got))
		}
		hours, said := must[sessiondb.WeekHours](t)(db.MessagesByHour(t.Context(), f)), int64(0)
		for _, day := range hours {
			for _, n := range day {
				said += n
			}
		}
		if said != 2*want {
			t.Errorf("messages by hour of %v: %d", tags, said)
		}
		must[[]string](t)(db.Tag(t.Context(), "b", []string{"work", "urgent"}, nil))
		if before == 2 {
			must[[]string](t)(db.Tag(t.Context(), "other", []string{"work"}, nil))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var heard []string
	for m, err := range db.Watch(ctx, sessiondb.WatchFilter{Every: quickly, Tags: []string{"work", "urgent"}}) {
		noError(t, err)
		if heard = append(heard, m.SessionID); len(heard) == 6 {
			stop()
		}
	}
	if want := []string{"a", "a", "b", "b", "c", "c"}; !slices.Equal(heard, want) {
		t.Errorf("heard of %v, not %v", heard, want)
	}
	for _, id := range []string{"c", "other", "branch"} {
		noError(t, db.EndSession(t.Context(), id, "done"))
	}
	c.add(time.Hour)
	f := sessiondb.PruneFilter{OlderThan: time.Minute, Tags: []string{"urgent"}}
	r := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), f, sessiondb.DeleteOptions{}))
	slices.Sort(r.Sessions)
	if !slices.Equal(r.Sessions, []string{"a", "b", "c"}) {
		t.Errorf("pruned %v", r.Sessions)
	}
}

func tagsInvalid(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "a")
	for _, tag := range []string{"", " ", "#", "a b", "a,b", "-a", "+a", "a\x00", "a\u202e", strings.Repeat("x", 51)} {
		if _, err := db.Tag(t.Context(), "a", []string{tag}, nil); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("%q: %v", tag, err)
		}
	}
	wantTags(t, db, "a", "")
	if _, err := db.Tag(t.Context(), "none", []string{"a"}, nil); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Error(err)
	}
	if _, err := db.SetTags(t.Context(), "none", nil); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Error(err)
	}
	if _, err := db.SetTags(t.Context(), "a", []string{"b", "-a"}); !errors.Is(err, sessiondb.ErrInvalid) {
		t.Error(err)
	}
	wantTags(t, db, "a", "")
	if _, err := db.Tags(t.Context(), "none"); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Error(err)
	}
}

func tagsGoAlong(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	must[[]string](t)(db.Tag(t.Context(), "c", []string{"work", "urgent"}, nil))
	// A fork.
	c.add(time.Second)
	must[sessiondb.Session](t)(db.Fork(t.Context(), "b", 0, sessiondb.ForkOptions{ID: "f"}))
	wantTags(t, db, "f", "urgent work")
	before, shape := wholeStore(t, db), tree(t, db, "a")
	if n := strings.Count(before, `"tags":["urgent","work"]`); n != 2 {
		t.Errorf("%d sessions are exported with tags", n)
	}
	// Another store.
	imported, _ := h.store(t)
	r := must[sessiondb.ImportReport](t)(imported.Import(t.Context(), strings.NewReader(before), sessiondb.ImportOptions{}))
	if len(r.Failed) > 0 {
		t.Errorf("imported %+v", r)
	}
	wantTags(t, imported, "c", "urgent work")
	wantTree(t, imported, "a", shape)
	copied, _ := h.store(t)
	copyAll(t, db, copied)
	wantTags(t, copied, "c", "urgent work")
	// The trash.
	for _, id := range []string{"c", "f"} {
		c.add(time.Second)
		remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
	}
	if all := must[[]sessiondb.TagCount](t)(db.AllTags(t.Context())); len(all) > 0 {
		t.Errorf("tags %v", all)
	}
	h.sessions(t, db, "a")
	wantTags(t, db, "a", "")
	remove(t, db, "a", sessiondb.DeleteOptions{})
	for _, id := range []string{"f", "c"} {
		bringBack(t, db, id)
	}
	if after := wholeStore(t, db); after != before {
		t.Errorf("restored as\n%s\nwas\n%s", after, before)
	}
	remove(t, db, "c", sessiondb.DeleteOptions{})
	h.sessions(t, db, "a")
	wantTags(t, db, "a", "")
}
