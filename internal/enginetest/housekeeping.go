package enginetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testHousekeeping(t *testing.T, h *harness) {
	t.Run("empty ghosts go", func(t *testing.T) { ghosts(t, h) })
	t.Run("orphaned compressions end", func(t *testing.T) { orphanedCompressions(t, h) })
}

func ghosts(t *testing.T, h *harness) {
	db, c := h.store(t)
	tui := func(id string) {
		must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "tui"}))
	}
	for _, id := range []string{"ghost 1", "ghost 2", "titled", "used", "open", "parent"} {
		tui(id)
	}
	h.sessions(t, db, "cli")
	noError(t, db.SetTitle(t.Context(), "titled", "title"))
	h.say(t, db, c, "used")
	h.child(t, db, "parent", "child", "cli")
	end(t, db, "ghost 1", "ghost 2", "titled", "used", "parent", "cli")
	c.add(23 * time.Hour)
	tui("young")
	end(t, db, "young")
	if r := must[sessiondb.DeleteReport](t)(db.PruneEmptyGhosts(t.Context(), sessiondb.DeleteOptions{})); len(r.Sessions) != 0 {
		t.Errorf("too early: %+v", r)
	}
	c.add(2 * time.Hour)
	dry := must[sessiondb.DeleteReport](t)(db.PruneEmptyGhosts(t.Context(), sessiondb.DeleteOptions{DryRun: true}))
	r := must[sessiondb.DeleteReport](t)(db.PruneEmptyGhosts(t.Context(), sessiondb.DeleteOptions{}))
	if got := strings.Join(r.Sessions, ","); got != "ghost 1,ghost 2" || !slices.Equal(dry.Sessions, r.Sessions) {
		t.Errorf("dry run %+v, run %+v", dry, r)
	}
	if parent(t, db, "child") != "parent" {
		t.Error("the child lost its parent")
	}
	if _, all := listed(t, db); all != "child cli open parent titled used young" {
		t.Errorf("left are %q", all)
	}
}

func orphanedCompressions(t *testing.T, h *harness) {
	db, c := h.store(t)
	ids := []string{"orphaned", "called", "empty", "ended", "of a living parent"}
	h.sessions(t, db, "root", "living")
	noError(t, db.EndSession(t.Context(), "root", "compression"))
	for _, id := range ids[:4] {
		h.child(t, db, "root", id, "cli")
	}
	h.child(t, db, "living", ids[4], "cli")
	h.say(t, db, c, "orphaned", "called", "ended", ids[4], "living")
	noError(t, db.UpdateUsage(t.Context(), "called", sessiondb.UsageUpdate{APICalls: 1}))
	end(t, db, "ended")
	for _, days := range []time.Duration{6, 2, 1} {
		c.add(days * day)
		want := map[time.Duration]int64{2: 1}[days]
		if n := must[int64](t)(db.FinalizeOrphanedCompressions(t.Context())); n != want {
			t.Errorf("%d finalized, want %d", n, want)
		}
	}
	for _, id := range ids {
		s := must[sessiondb.Session](t)(db.Session(t.Context(), id))
		reason := ""
		if s.EndReason != nil {
			reason = *s.EndReason
		}
		if want := map[string]string{"orphaned": "orphaned_compression", "ended": "done"}[id]; reason != want || s.EndedAt.IsZero() != (want == "") {
			t.Errorf("%s ended %v, %q", id, s.EndedAt, reason)
		}
	}
}
