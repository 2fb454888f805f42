package enginetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testList(t *testing.T, h *harness) {
	ids := func(t *testing.T, db *sessiondb.DB, f sessiondb.ListFilter) string {
		t.Helper()
		var out []string
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)) {
			out = append(out, s.ID)
		}
		return strings.Join(out, " ")
	}
	active := sessiondb.ListFilter{ByLastActive: true}
	t.Run("a chain stands as its tip", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b")
		noError(t, db.SetTitle(t.Context(), "b", "tip"))
		h.say(t, db, c, "a", "b")
		list := must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), active))
		if len(list) != 1 {
			t.Fatalf("%d rows", len(list))
		}
		s := list[0]
		if s.ID != "b" || s.LineageRoot != "a" || !s.StartedAt.Equal(start) || *s.Title != "tip" || s.Preview != "hello from b" || !s.LastActive.Equal(c.now()) {
			t.Errorf("got %+v", s)
		}
		if got := ids(t, db, sessiondb.ListFilter{NoProjection: true}); got != "a" {
			t.Errorf("without projection %q", got)
		}
		if got := ids(t, db, sessiondb.ListFilter{Children: true, NoProjection: true}); got != "b a" {
			t.Errorf("with children %q", got)
		}
	})
	t.Run("last activity counts along the chain", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "old", "new")
		c.add(time.Second)
		h.sessions(t, db, "other", "empty")
		h.say(t, db, c, "other", "new")
		c.add(time.Second)
		h.sessions(t, db, "fresh")
		h.child(t, db, "other", "helper", "subagent")
		h.say(t, db, c, "helper")
		if got := ids(t, db, active); got != "fresh new other empty" {
			t.Errorf("got %q", got)
		}
		if got := ids(t, db, sessiondb.ListFilter{}); got != "fresh other empty new" {
			t.Errorf("by start %q", got)
		}
	})
	t.Run("pages neither repeat nor skip", func(t *testing.T) {
		db, c := h.store(t)
		for i := range 45 {
			h.sessions(t, db, fmt.Sprintf("s%02d", i))
			if i%3 == 0 {
				h.say(t, db, c, fmt.Sprintf("s%02d", i))
			}
		}
		for _, f := range []sessiondb.ListFilter{{}, active} {
			f.Limit = -1
			all := ids(t, db, f)
			var pages []string
			for f.Limit = 10; f.Offset < 50; f.Offset += 10 {
				if p := ids(t, db, f); p != "" {
					pages = append(pages, p)
				}
			}
			if strings.Join(pages, " ") != all || len(strings.Fields(all)) != 45 {
				t.Errorf("%+v: pages %q, all %q", f, pages, all)
			}
		}
	})
	t.Run("beyond the end there is nothing", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a", "b")
		h.say(t, db, c, "a")
		for _, f := range []sessiondb.ListFilter{{}, active, {Children: true, NoProjection: true, ByLastActive: true}} {
			for _, p := range []struct{ limit, offset, want int }{
				{math.MaxInt, 0, 2}, {math.MinInt, math.MinInt, 2}, {math.MaxInt, math.MaxInt, 0}, {0, math.MaxInt, 0}, {-1, 2, 0}, {1, 2, 0},
			} {
				f.Limit, f.Offset = p.limit, p.offset
				if n := len(must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f))); n != p.want {
					t.Errorf("%+v: %d sessions, want %d", f, n, p.want)
				}
			}
		}
	})
	t.Run("sources", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a")
		must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "cron", Source: "cron"}))
		h.say(t, db, c, "a", "cron")
		for _, f := range []sessiondb.ListFilter{{}, active} {
			f.Source = "cron"
			if got := ids(t, db, f); got != "cron" {
				t.Errorf("source cron: %q", got)
			}
			f.Source, f.ExcludeSources = "", []string{"cron"}
			if got := ids(t, db, f); got != "a" {
				t.Errorf("without cron: %q", got)
			}
		}
	})
	t.Run("a message from the future does not pin its session", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a", "b")
		h.say(t, db, c, "a")
		must[int64](t)(db.AppendMessage(t.Context(), "a", sessiondb.Message{
			Role: "user", Content: sessiondb.Text("x"), Timestamp: start.AddDate(5, 0, 0),
		}))
		h.say(t, db, c, "b")
		if got := ids(t, db, active); got != "b a" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("previews", func(t *testing.T) {
		db, _ := h.store(t)
		for id, c := range map[string]sessiondb.Content{
			"caption": sessiondb.Structured([]byte(`[{"type":"text","text":"caption"},{"type":"image_url","image_url":{"url":"data:x"}}]`)),
			"lines":   sessiondb.Text("one\ntwo"),
			"long":    sessiondb.Text(strings.Repeat("é", 70)),
			"nul":     sessiondb.Text("a\x00b"),
		} {
			h.sessions(t, db, id)
			noRole := sessiondb.Message{Role: "assistant", Content: sessiondb.Text("no")}
			for range 30 {
				must[int64](t)(db.AppendMessage(t.Context(), id, noRole))
			}
			must[int64](t)(db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user", Content: c}))
		}
		want := map[string]string{"caption": "caption", "lines": "one two", "long": strings.Repeat("é", 60) + "...", "nul": "a\x00b"}
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), sessiondb.ListFilter{})) {
			if s.Preview != want[s.ID] {
				t.Errorf("%s: %q, want %q", s.ID, s.Preview, want[s.ID])
			}
		}
	})
}
