package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func testTitles(t *testing.T, h *harness) {
	t.Run("a taken title names its holder", func(t *testing.T) {
		db, _ := h.store(t)
		h.sessions(t, db, "a", "b")
		noError(t, db.SetTitle(t.Context(), "a", "  plan\t of the\nday "))
		err := db.SetTitle(t.Context(), "b", "plan of the day")
		var taken *sessiondb.TitleTakenError
		if !errors.As(err, &taken) || taken.Holder != "a" {
			t.Errorf("got %v", err)
		}
		noError(t, db.SetTitle(t.Context(), "a", "plan of the day"))
		noError(t, db.SetTitle(t.Context(), "a", ""))
		noError(t, db.SetTitle(t.Context(), "b", "plan of the day"))
		if err := db.SetTitle(t.Context(), "none", "x"); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("unknown session: %v", err)
		}
		if err := db.SetTitle(t.Context(), "a", strings.Repeat("x", 101)); !errors.Is(err, sessiondb.ErrTitleInvalid) {
			t.Errorf("long title: %v", err)
		}
	})
	t.Run("what is found is what was stored", func(t *testing.T) {
		db, _ := h.store(t)
		h.sessions(t, db, "a")
		noError(t, db.SetTitle(t.Context(), "a", "caf\xe9"))
		if s := must[sessiondb.Session](t)(db.SessionByTitle(t.Context(), "caf\xe9")); s.ID != "a" {
			t.Errorf("session %s", s.ID)
		}
		if id := must[string](t)(db.ResolveTitle(t.Context(), "caf\xe9")); id != "a" {
			t.Errorf("session %s", id)
		}
		noError(t, db.SetMeta(t.Context(), "k\xff", "v"))
		if v, ok, err := db.Meta(t.Context(), "k\xff"); v != "v" || !ok || err != nil {
			t.Errorf("meta %q, %v, %v", v, ok, err)
		}
	})
	t.Run("a title moves along a compression chain", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b", "c")
		noError(t, db.SetTitle(t.Context(), "a", "proj"))
		noError(t, db.SetTitle(t.Context(), "c", "proj"))
		if s := must[sessiondb.Session](t)(db.SessionByTitle(t.Context(), "proj")); s.ID != "c" {
			t.Errorf("title is at %s", s.ID)
		}
		if err := db.SetTitle(t.Context(), "a", "proj"); !errors.Is(err, sessiondb.ErrTitleTaken) {
			t.Errorf("a continuation does not give its title back: %v", err)
		}
	})
	t.Run("lineage of titles", func(t *testing.T) {
		db, c := h.store(t)
		titles := map[string]string{
			"a": "plan", "b": "plan #2", "c": "plan #10", "d": "plan #2b", "e": "pl%n", "f": "pl%n #2", "g": "plan #", "h": "other #3", "i": "far #9223372036854775807",
			"k": "Deploy", "l": "deploy #2",
		}
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "k", "l"} {
			h.sessions(t, db, id)
			noError(t, db.SetTitle(t.Context(), id, titles[id]))
			c.add(1e9)
		}
		long := strings.Repeat("y", 100)
		h.sessions(t, db, "long")
		noError(t, db.SetTitle(t.Context(), "long", long))
		for title, want := range map[string]string{
			"plan": "plan #11", "plan #2": "plan #11", "pl%n": "pl%n #3", "pl_n": "pl_n", "new": "new", "new #7": "new",
			"plan #2b": "plan #2b #2", "other": "other #4", "far": "far", long: strings.Repeat("y", 97) + " #2",
		} {
			if got := must[string](t)(db.NextTitle(t.Context(), title)); got != want {
				t.Errorf("next after %q: %q, want %q", title, got, want)
			}
		}
		for title, want := range map[string]string{"plan": "c", "pl%n": "f", "plan #2b": "d", "plan #2": "b", "other": "h", "Deploy": "k", "deploy": "l", "DEPLOY": "l"} {
			if got := must[string](t)(db.ResolveTitle(t.Context(), title)); got != want {
				t.Errorf("resolve %q: %q, want %q", title, got, want)
			}
		}
		for _, title := range []string{"pl_n", "", "%", "plan #3"} {
			if id, err := db.ResolveTitle(t.Context(), title); !errors.Is(err, sessiondb.ErrNotFound) {
				t.Errorf("resolve %q: %q, %v", title, id, err)
			}
		}
	})
	t.Run("what changes a session takes the one that is named", func(t *testing.T) {
		db, c := h.store(t)
		for id, title := range map[string]string{"a": "plan", "b": "plan #2", "plain": "other", "ab": "plai", "long1": "", "long2": "long"} {
			h.sessions(t, db, id)
			noError(t, db.SetTitle(t.Context(), id, title))
			c.add(1e9)
		}
		for ref, want := range map[string]string{"plan": "a", "plan #2": "b", "a": "a", "ab": "ab", "other": "plain", "plain": "plain"} {
			if s, err := db.SessionNamed(t.Context(), ref); err != nil || s.ID != want {
				t.Errorf("named %q: %q, %v, want %q", ref, s.ID, err, want)
			}
		}
		// A title that is the beginning of the id of another.
		for ref, want := range map[string]string{"plai": "ab plain", "long": "long1 long2"} {
			var several *sessiondb.AmbiguousError
			if s, err := db.SessionNamed(t.Context(), ref); !errors.As(err, &several) || strings.Join(slices.Sorted(slices.Values(several.Candidates)), " ") != want {
				t.Errorf("named %q: %q, %v, want one of %s", ref, s.ID, err, want)
			}
		}
		for ref, want := range map[string]string{"plan": "b", "plan #2": "b", "ab": "ab", "other": "plain", "plain": "plain", "PLAN": "b", "long2": "long2"} {
			if s, err := db.FindSession(t.Context(), ref); err != nil || s.ID != want {
				t.Errorf("found %q: %q, %v, want %q", ref, s.ID, err, want)
			}
		}
		for ref, want := range map[string][]string{"plai": {"ab", "plain"}, "long": {"long2", "long1"}} {
			var several *sessiondb.AmbiguousError
			if s, err := db.FindSession(t.Context(), ref); !errors.As(err, &several) || !slices.Equal(several.Candidates, want) {
				t.Errorf("found %q: %q, %v, want one of %q", ref, s.ID, err, want)
			}
		}
		for _, ref := range []string{"", "pl_n", "plan #3", "Plan"} {
			if s, err := db.SessionNamed(t.Context(), ref); !errors.Is(err, sessiondb.ErrNotFound) {
				t.Errorf("named %q: %q, %v", ref, s.ID, err)
			}
		}
	})
	t.Run("titles are found by a part", func(t *testing.T) {
		db, c := h.store(t)
		for id, title := range map[string]string{"a": "Deploy plan", "b": "배포 plan", "c": "50% off_all", "d": ""} {
			h.sessions(t, db, id)
			noError(t, db.SetTitle(t.Context(), id, title))
		}
		c.add(1e9)
		h.sessions(t, db, "new")
		noError(t, db.SetTitle(t.Context(), "new", "replanned"))
		for part, want := range map[string]string{" PLAN": "new b a", "배포": "b", "%": "c", "_": "c", "": "", "zebra": ""} {
			var got []string
			for _, s := range must[[]sessiondb.Session](t)(db.SessionsTitled(t.Context(), part, 3)) {
				got = append(got, s.ID)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("part %q: %q, want %q", part, got, want)
			}
		}
		if ss := must[[]sessiondb.Session](t)(db.SessionsTitled(t.Context(), "plan", 1)); len(ss) != 1 || ss[0].ID != "new" {
			t.Errorf("the newest alone: %d sessions", len(ss))
		}
	})
	t.Run("auto titles count on", func(t *testing.T) {
		db, _ := h.store(t)
		h.sessions(t, db, "a", "b", "c")
		var got []string
		for _, id := range []string{"a", "b", "c"} {
			got = append(got, must[string](t)(db.SetTitleAuto(t.Context(), id, "x")))
		}
		if strings.Join(got, ",") != "x,x #2,x #3" {
			t.Errorf("got %q", got)
		}
	})
}
