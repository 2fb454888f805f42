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

func testPrune(t *testing.T, h *harness) {
	t.Run("age is that of the last activity", func(t *testing.T) { pruneAge(t, h) })
	t.Run("what never ended stays and is counted", func(t *testing.T) { pruneOpen(t, h) })
	t.Run("a chain goes or stays as a whole", func(t *testing.T) { pruneChain(t, h) })
	t.Run("of forks the tip decides", func(t *testing.T) { pruneForks(t, h) })
	t.Run("children that stay are orphaned", func(t *testing.T) { pruneOrphans(t, h) })
	t.Run("by source of the first session", func(t *testing.T) { pruneSource(t, h) })
	t.Run("a clock that was wrong", func(t *testing.T) { pruneFuture(t, h) })
	t.Run("in several transactions", func(t *testing.T) { pruneBatches(t, h) })
	t.Run("a context that ends", func(t *testing.T) { pruneCancelled(t, h) })
	t.Run("a negative age", func(t *testing.T) {
		db, _ := h.store(t)
		if _, err := db.Prune(t.Context(), sessiondb.PruneFilter{OlderThan: -time.Second}, sessiondb.DeleteOptions{}); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
}

const day = 24 * time.Hour

// end ends sessions.
func end(t *testing.T, db *sessiondb.DB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		noError(t, db.EndSession(t.Context(), id, "done"))
	}
}

// prune prunes twice, first as a dry run, and checks that both tell the same.
func prune(t *testing.T, db *sessiondb.DB, f sessiondb.PruneFilter) (deleted string, r sessiondb.DeleteReport) {
	t.Helper()
	_, before := listed(t, db)
	dry := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), f, sessiondb.DeleteOptions{DryRun: true}))
	if _, after := listed(t, db); after != before {
		t.Errorf("the dry run left %q of %q", after, before)
	}
	r = must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), f, sessiondb.DeleteOptions{}))
	if got, want := fmt.Sprintf("%+v", dry), fmt.Sprintf("%+v", r); got != want {
		t.Errorf("the dry run told %s, the run %s", got, want)
	}
	ids := slices.Clone(r.Sessions)
	slices.Sort(ids)
	return strings.Join(ids, " "), r
}

func pruneAge(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "old", "empty", "used", "ended late")
	h.say(t, db, c, "old", "ended late")
	end(t, db, "old", "empty")
	c.add(100 * day)
	h.say(t, db, c, "used")
	end(t, db, "used", "ended late")
	h.sessions(t, db, "new")
	end(t, db, "new")
	if got, r := prune(t, db, sessiondb.PruneFilter{}); got != "empty ended late old" || r.Messages != 2 || r.SkippedOpen != 0 {
		t.Errorf("pruned %q, %+v", got, r)
	}
	c.add(day)
	if got, _ := prune(t, db, sessiondb.PruneFilter{OlderThan: 2 * day}); got != "" {
		t.Errorf("pruned %q", got)
	}
	if got, _ := prune(t, db, sessiondb.PruneFilter{OlderThan: day / 2}); got != "new used" {
		t.Errorf("pruned %q", got)
	}
}

func pruneOpen(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "open 1", "open 2", "old")
	h.say(t, db, c, "open 1")
	end(t, db, "old")
	c.add(200 * day)
	h.sessions(t, db, "open and new")
	if got, r := prune(t, db, sessiondb.PruneFilter{}); got != "old" || r.SkippedOpen != 2 {
		t.Errorf("pruned %q, %d skipped", got, r.SkippedOpen)
	}
	if got, r := prune(t, db, sessiondb.PruneFilter{}); got != "" || r.SkippedOpen != 2 {
		t.Errorf("pruned %q, %d skipped", got, r.SkippedOpen)
	}
}

func pruneChain(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "a1", "a2", "a3") // all old
	h.chain(t, db, c, "b1", "b2")       // its tip is in use
	h.chain(t, db, c, "c1", "c2")       // its tip never ended
	h.say(t, db, c, "a1", "a2", "a3", "b1", "b2", "c1", "c2")
	end(t, db, "a3")
	c.add(100 * day)
	h.say(t, db, c, "b2")
	end(t, db, "b2")
	if got, r := prune(t, db, sessiondb.PruneFilter{}); got != "a1 a2 a3" || r.SkippedOpen != 1 || r.Messages != 3 {
		t.Errorf("pruned %q, %+v", got, r)
	}
	wantListed(t, db, "b2 c2", "b1 b2 c1 c2")
}

func pruneForks(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a", "b")
	for _, id := range []string{"a", "b"} {
		noError(t, db.EndSession(t.Context(), id, "compression"))
		h.child(t, db, id, id+" dead", "cli") // never used, never ended
		h.child(t, db, id, id+" live", "cli")
		h.child(t, db, id, id+" side", "cli")
		h.say(t, db, c, id+" live", id+" side")
		end(t, db, id+" live")
	}
	end(t, db, "a side")
	c.add(100 * day)
	if got, r := prune(t, db, sessiondb.PruneFilter{}); got != "a a dead a live a side" || r.SkippedOpen != 2 {
		t.Errorf("pruned %q, %d skipped", got, r.SkippedOpen)
	}
}

func pruneOrphans(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	h.child(t, db, "a", "old helper", "subagent")
	h.child(t, db, "a", "open helper", "subagent")
	end(t, db, "old helper")
	h.branch(t, db, c, "a", "branch")
	c.add(100 * day)
	h.say(t, db, c, "branch")
	got, r := prune(t, db, sessiondb.PruneFilter{})
	slices.Sort(r.Orphaned)
	if got != "a old helper" || strings.Join(r.Orphaned, ",") != "branch,open helper" || r.SkippedOpen != 1 {
		t.Errorf("pruned %q, %+v", got, r)
	}
	wantListed(t, db, "branch", "branch open helper")
}

func pruneSource(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "a", "b")
	must[string](t)(db.CreateSession(t.Context(), sessiondb.NewSession{ID: "cron", Source: "cron"}))
	noError(t, db.EndSession(t.Context(), "cron", "compression"))
	h.child(t, db, "cron", "goes on elsewhere", "cli")
	end(t, db, "b", "goes on elsewhere")
	c.add(100 * day)
	if got, _ := prune(t, db, sessiondb.PruneFilter{Source: "cron"}); got != "cron goes on elsewhere" {
		t.Errorf("pruned %q", got)
	}
	if got, _ := prune(t, db, sessiondb.PruneFilter{Source: "cli"}); got != "a b" {
		t.Errorf("pruned %q", got)
	}
}

func pruneFuture(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	must[int64](t)(db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user", Timestamp: start.AddDate(5, 0, 0)}))
	end(t, db, "a")
	c.add(200 * day)
	h.sessions(t, db, "from the future")
	end(t, db, "from the future")
	c.add(-100 * day)
	if got, _ := prune(t, db, sessiondb.PruneFilter{}); got != "a" {
		t.Errorf("pruned %q", got)
	}
}

func pruneBatches(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "big", "big 2")
	many := make([]sessiondb.Message, 1200)
	for i := range many {
		many[i] = sessiondb.Message{Role: "user"}
	}
	for _, id := range []string{"big", "big 2"} {
		must[[]int64](t)(db.AppendMessages(t.Context(), id, many))
	}
	end(t, db, "big", "big 2")
	parent := "big"
	for i := range 110 {
		id := fmt.Sprintf("s%03d", i)
		h.child(t, db, parent, id, "cli") // a delegate of the one before
		end(t, db, id)
		parent = id
	}
	h.child(t, db, parent, "open", "cli")
	c.add(100 * day)
	var steps []int64
	r := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{Progress: func(done, total int64) {
		if total != 113 {
			t.Errorf("%d of %d", done, total)
		}
		steps = append(steps, done)
	}}))
	if len(r.Sessions) != 112 || r.Messages != 2400 || strings.Join(r.Orphaned, ",") != "open" || r.SkippedOpen != 1 {
		t.Errorf("%d sessions, %d messages, orphaned %q, %d skipped", len(r.Sessions), r.Messages, r.Orphaned, r.SkippedOpen)
	}
	if len(steps) < 4 || !slices.IsSorted(steps) || steps[len(steps)-1] != 113 {
		t.Errorf("progress %v", steps)
	}
	wantListed(t, db, "", "open")
}

func pruneCancelled(t *testing.T, h *harness) {
	db, c := h.store(t)
	for i := range 150 {
		id := fmt.Sprintf("s%03d", i)
		h.sessions(t, db, id)
		end(t, db, id)
	}
	c.add(100 * day)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := db.Prune(ctx, sessiondb.PruneFilter{}, sessiondb.DeleteOptions{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	n := must[int64](t)(db.SessionCount(t.Context(), ""))
	if len(r.Sessions) != 100 || n != 50 {
		t.Errorf("%d deleted, %d left", len(r.Sessions), n)
	}
}
