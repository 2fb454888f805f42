package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// maxRanked compares searches by rank that are the newest first where too many
// messages match with those of either order.
func maxRanked(t *testing.T, h *harness) {
	db, c := h.store(t)
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "a", Source: "cli"}))
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "b", Source: "cron"}))
	for i := range 30 {
		c.add(time.Second)
		say(t, db, []string{"a", "b"}[i%2], strings.Repeat("zebra 배포 ", 1+i*7%5)+strings.Repeat("grass ", i*3%7))
	}
	for _, q := range []sessiondb.SearchQuery{
		{Text: "zebra"}, {Text: "zeb*"}, {Text: "배포"}, {Text: "zebra OR 배포"}, {Text: "zebra NOT lion"}, {Text: "ebr", Substring: true},
		{Text: "zebra source:cron"}, {Text: "zebra", Roles: []string{"user"}},
	} {
		ordered := func(sort sessiondb.SearchSort, most int) (ids []int64, newest bool) {
			t.Helper()
			q.Sort, q.MaxRanked, q.Limit = sort, most, 7
			for {
				q.Offset = len(ids)
				r := must[sessiondb.SearchResult](t)(db.Search(t.Context(), q))
				if r.NewestFirst && (sort != sessiondb.ByRank || most == 0) || len(ids) > 0 && newest != r.NewestFirst {
					t.Errorf("%q %s, %d, after %d hits: newest first %v", q.Text, sort, most, len(ids), r.NewestFirst)
				}
				newest = r.NewestFirst
				if len(r.Hits) == 0 {
					return ids, newest
				}
				for _, hit := range r.Hits {
					ids = append(ids, hit.MessageID)
				}
			}
		}
		ranked, _ := ordered(sessiondb.ByRank, 0)
		newest, _ := ordered(sessiondb.Newest, 0)
		oldest, _ := ordered(sessiondb.Oldest, 3)
		if slices.Reverse(oldest); !slices.Equal(oldest, newest) || len(newest) < 15 || len(newest) > 30 {
			t.Errorf("%q: oldest %v, newest %v", q.Text, oldest, newest)
		}
		for most, want := range map[int][]int64{1: newest, 29: newest, 30: ranked, 1000: ranked, -1: ranked} {
			got, first := ordered(sessiondb.ByRank, most)
			if diff := cmp.Diff(want, got); diff != "" || first != (most == 1 || most == 29) {
				t.Errorf("%q, at most %d ranked: newest first %v (-want +got)\n%s", q.Text, most, first, diff)
			}
		}
	}
}

// conversationsByTime finds conversations behind one with very many hits.
func conversationsByTime(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "early", "long", "late")
	say(t, db, "early", "zebra")
	c.add(time.Second)
	ms := make([]sessiondb.Message, 700)
	for i := range ms {
		ms[i] = sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprint("zebra ", i))}
	}
	must[[]int64](t)(db.AppendMessages(t.Context(), "long", ms))
	c.add(time.Second)
	say(t, db, "late", "zebra")
	early := sessiondb.SearchQuery{Text: "zebra", Sort: sessiondb.Oldest}
	late := sessiondb.SearchQuery{Text: "zebra", Sort: sessiondb.Newest}
	many := sessiondb.SearchQuery{Text: "zebra", MaxRanked: 100}
	for want, q := range map[string]sessiondb.SearchQuery{"early:1 long:700 late:1": early, "late:1 long:700 early:1": late, "late:1 long:700 early:1 ": many} {
		r := must[sessiondb.GroupedResult](t)(db.SearchGrouped(t.Context(), q))
		var got []string
		for _, conv := range r.Conversations {
			got = append(got, fmt.Sprint(conv.RootID, ":", conv.Hits))
		}
		if strings.Join(got, " ") != strings.TrimSpace(want) || r.NewestFirst != (q.MaxRanked > 0) {
			t.Errorf("%q %d: %q, newest first %v", q.Sort, q.MaxRanked, got, r.NewestFirst)
		}
	}
}
