package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testLineage(t *testing.T, h *harness) {
	tip := func(t *testing.T, db *sessiondb.DB, id string) string {
		t.Helper()
		return must[string](t)(db.CompressionTip(t.Context(), id))
	}
	resume := func(t *testing.T, db *sessiondb.DB, id string) string {
		t.Helper()
		return must[string](t)(db.ResumeSessionID(t.Context(), id))
	}
	t.Run("resume goes to the live tip", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b", "c")
		h.say(t, db, c, "a", "b", "c")
		for _, id := range []string{"a", "b", "c"} {
			if tip(t, db, id) != "c" || resume(t, db, id) != "c" {
				t.Errorf("%s: tip %s, resume %s", id, tip(t, db, id), resume(t, db, id))
			}
		}
		if got := resume(t, db, "unknown"); got != "unknown" {
			t.Errorf("unknown: %s", got)
		}
	})
	t.Run("an empty tip is not resumed", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b", "c")
		h.say(t, db, c, "b")
		if tip(t, db, "a") != "c" || resume(t, db, "a") != "b" {
			t.Errorf("tip %s, resume %s", tip(t, db, "a"), resume(t, db, "a"))
		}
	})
	t.Run("only compression is followed", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a")
		noError(t, db.EndSession(t.Context(), "a", "session_reset"))
		h.child(t, db, "a", "b", "cli")
		h.say(t, db, c, "b")
		if got := resume(t, db, "a"); got != "a" {
			t.Errorf("resume %s", got)
		}
	})
	t.Run("of forks the one in use wins", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "s0")
		noError(t, db.EndSession(t.Context(), "s0", "compression"))
		for _, id := range []string{"s1", "s2", "s3", "s4"} {
			c.add(time.Second)
			h.child(t, db, "s0", id, "cli")
		}
		h.say(t, db, c, "s2", "s4")
		noError(t, db.EndSession(t.Context(), "s4", "user_exit"))
		if got := tip(t, db, "s0"); got != "s2" {
			t.Errorf("tip %s", got)
		}
	})
	t.Run("a clock set back does not cut a chain", func(t *testing.T) {
		for _, back := range []time.Duration{5 * time.Millisecond, time.Hour} {
			db, c := h.store(t)
			h.sessions(t, db, "a")
			h.say(t, db, c, "a")
			noError(t, db.EndSession(t.Context(), "a", "compression"))
			c.add(-back)
			h.child(t, db, "a", "b", "cli")
			h.child(t, db, "a", "helper", "subagent")
			h.say(t, db, c, "b", "helper")
			if got := tip(t, db, "a"); got != "b" {
				t.Errorf("set back by %v: tip %s", back, got)
			}
		}
	})
	t.Run("a delegate of a silent parent is no tip", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a")
		h.say(t, db, c, "a")
		c.add(time.Minute)
		h.child(t, db, "a", "helper", "cli")
		h.say(t, db, c, "helper")
		c.add(time.Minute)
		noError(t, db.EndSession(t.Context(), "a", "compression"))
		if got := tip(t, db, "a"); got != "a" {
			t.Errorf("tip %s", got)
		}
	})
	t.Run("a delegate started before the end is no tip", func(t *testing.T) {
		db, c := h.store(t)
		h.sessions(t, db, "a")
		h.child(t, db, "a", "helper", "cli")
		h.say(t, db, c, "helper")
		c.add(time.Minute)
		h.say(t, db, c, "a")
		noError(t, db.EndSession(t.Context(), "a", "compression"))
		if got := tip(t, db, "a"); got != "a" {
			t.Errorf("tip %s", got)
		}
	})
	t.Run("the tree tells kinds apart", func(t *testing.T) {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b")
		h.child(t, db, "b", "helper", "subagent")
		noError(t, db.EndSession(t.Context(), "b", "branched"))
		c.add(time.Second)
		h.child(t, db, "b", "branch", "cli")
		for _, id := range []string{"a", "b", "helper", "branch"} {
			var got []string
			for _, n := range must[[]sessiondb.LineageNode](t)(db.Lineage(t.Context(), id)) {
				got = append(got, fmt.Sprintf("%d %s %s", n.Depth, n.ID, n.Kind))
			}
			if want := "0 a root,1 b continuation,2 helper delegate,2 branch branch"; strings.Join(got, ",") != want {
				t.Errorf("lineage of %s: %q", id, got)
			}
		}
		for id, want := range map[string]string{"a": "a b", "b": "a b", "helper": "helper", "branch": "branch"} {
			if got := must[[]string](t)(db.Chain(t.Context(), id)); strings.Join(got, " ") != want {
				t.Errorf("chain of %s: %v", id, got)
			}
		}
		if got, err := db.Chain(t.Context(), "none"); err != nil || len(got) > 0 {
			t.Errorf("unknown: %v, %v", got, err)
		}
		up := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "helper"))
		down := must[[]sessiondb.LineageNode](t)(db.Descendants(t.Context(), "b"))
		if len(up) != 2 || up[0].ID != "a" || up[1].ID != "b" || len(down) != 2 {
			t.Errorf("ancestors %v, descendants %v", up, down)
		}
		if _, err := db.Lineage(t.Context(), "none"); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
	})
	t.Run("a long chain is followed to its end", func(t *testing.T) {
		db, c := h.store(t)
		var ids []string
		for i := range 150 {
			ids = append(ids, fmt.Sprintf("s%03d", i))
		}
		h.chain(t, db, c, ids...)
		h.say(t, db, c, "s149")
		if got := resume(t, db, "s000"); got != "s149" {
			t.Errorf("resume %s", got)
		}
		if got := must[[]string](t)(db.Chain(t.Context(), "s070")); strings.Join(got, " ") != strings.Join(ids, " ") {
			t.Errorf("chain %v", got)
		}
		if got := must[[]sessiondb.Session](t)(db.Ancestors(t.Context(), "s149")); len(got) != 149 || got[0].ID != "s000" {
			t.Errorf("%d ancestors", len(got))
		}
	})
}
