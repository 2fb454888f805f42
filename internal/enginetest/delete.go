package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testDelete(t *testing.T, h *harness) {
	t.Run("a chain goes as a whole", func(t *testing.T) { deleteChain(t, h) })
	t.Run("a delegate does not turn into a conversation", func(t *testing.T) { deleteParentOfDelegate(t, h) })
	t.Run("an id that is used again is a new session", func(t *testing.T) { deleteAndReuse(t, h) })
	t.Run("one row only", func(t *testing.T) { deleteOnly(t, h) })
	t.Run("one row of a delegate", func(t *testing.T) { deleteOnlyOfDelegate(t, h) })
	t.Run("a dry run", func(t *testing.T) { deleteDryRun(t, h) })
	t.Run("an unknown session", func(t *testing.T) { deleteUnknown(t, h) })
}

// branch makes id a branch of parent, which ends.
func (h *harness) branch(t *testing.T, db *sessiondb.DB, c *clock, parent, id string) {
	t.Helper()
	noError(t, db.EndSession(t.Context(), parent, "branched"))
	c.add(time.Second)
	h.child(t, db, parent, id, "cli")
}

// listed returns the ids that a list shows, and all that exist.
func listed(t *testing.T, db *sessiondb.DB) (shown, all string) {
	t.Helper()
	ids := func(f sessiondb.ListFilter) string {
		var out []string
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), f)) {
			out = append(out, s.ID)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	return ids(sessiondb.ListFilter{Limit: -1}), ids(sessiondb.ListFilter{Limit: -1, Children: true, NoProjection: true})
}

func wantListed(t *testing.T, db *sessiondb.DB, shown, all string) {
	t.Helper()
	if s, a := listed(t, db); s != shown || a != all {
		t.Errorf("the list shows %q of %q, want %q of %q", s, a, shown, all)
	}
}

func parent(t *testing.T, db *sessiondb.DB, id string) string {
	t.Helper()
	s := must[sessiondb.Session](t)(db.Session(t.Context(), id))
	if s.ParentID == nil {
		return ""
	}
	return *s.ParentID
}

// remove deletes a session and returns the report.
func remove(t *testing.T, db *sessiondb.DB, id string, o sessiondb.DeleteOptions) sessiondb.DeleteReport {
	t.Helper()
	return must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), id, o))
}

func deleteChain(t *testing.T, h *harness) {
	for _, which := range []string{"a", "b", "c"} {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b", "c")
		h.child(t, db, "b", "helper", "subagent")
		h.branch(t, db, c, "c", "branch")
		h.sessions(t, db, "other")
		h.say(t, db, c, "a", "b", "c", "helper", "branch", "other")
		wantListed(t, db, "branch c other", "a b branch c helper other")
		r := remove(t, db, which, sessiondb.DeleteOptions{})
		slices.Sort(r.Sessions)
		if s := strings.Join(r.Sessions, " "); s != "a b c" || r.Messages != 3 || strings.Join(r.Orphaned, " ") != "branch helper" {
			t.Errorf("delete %s: %+v", which, r)
		}
		wantListed(t, db, "branch other", "branch helper other")
		if parent(t, db, "branch") != "" || parent(t, db, "helper") != "" {
			t.Error("an orphan has a parent")
		}
		if n := must[int64](t)(db.MessageCount(t.Context(), "")); n != 3 {
			t.Errorf("%d messages are left", n)
		}
	}
}

func deleteParentOfDelegate(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a", "b")
	h.child(t, db, "a", "helper", "cli")
	h.child(t, db, "helper", "helper's helper", "cli")
	h.say(t, db, c, "helper", "helper's helper", "b")
	remove(t, db, "a", sessiondb.DeleteOptions{})
	wantListed(t, db, "b", "b helper helper's helper")
	remove(t, db, "helper", sessiondb.DeleteOptions{})
	wantListed(t, db, "b", "b helper's helper")
	remove(t, db, "helper's helper", sessiondb.DeleteOptions{})
	wantListed(t, db, "b", "b")
}

func deleteAndReuse(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	h.child(t, db, "a", "helper", "cli")
	remove(t, db, "a", sessiondb.DeleteOptions{})
	remove(t, db, "helper", sessiondb.DeleteOptions{})
	c.add(time.Second)
	h.sessions(t, db, "helper")
	wantListed(t, db, "helper", "helper")
}

func deleteOnly(t *testing.T, h *harness) {
	for which, want := range map[string]string{"a": "c,,,b", "b": "c,,,a", "c": "b,,,a"} {
		db, c := h.store(t)
		h.chain(t, db, c, "a", "b", "c")
		h.say(t, db, c, "a", "b", "c")
		r := remove(t, db, which, sessiondb.DeleteOptions{Only: true})
		if strings.Join(r.Sessions, " ") != which || r.Messages != 1 {
			t.Errorf("delete only %s: %+v", which, r)
		}
		shown, all := listed(t, db)
		got := shown + ","
		for _, id := range strings.Fields(all) {
			got += "," + parent(t, db, id)
		}
		if got != want {
			t.Errorf("delete only %s: %q, want %q", which, got, want)
		}
	}
}

func deleteOnlyOfDelegate(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	h.child(t, db, "a", "d1", "cli")
	for _, next := range []string{"d1 d2", "d2 d3"} {
		from, to, _ := strings.Cut(next, " ")
		c.add(time.Second)
		noError(t, db.EndSession(t.Context(), from, "compression"))
		h.child(t, db, from, to, "cli")
	}
	h.say(t, db, c, "d1", "d2", "d3")
	remove(t, db, "d1", sessiondb.DeleteOptions{Only: true})
	wantListed(t, db, "a", "a d2 d3")
	remove(t, db, "d2", sessiondb.DeleteOptions{Only: true})
	wantListed(t, db, "a", "a d3")
}

func deleteDryRun(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.chain(t, db, c, "a", "b")
	h.child(t, db, "b", "helper", "subagent")
	h.say(t, db, c, "a", "b", "helper")
	r := remove(t, db, "b", sessiondb.DeleteOptions{DryRun: true})
	if len(r.Sessions) != 2 || r.Messages != 2 || strings.Join(r.Orphaned, " ") != "helper" {
		t.Errorf("got %+v", r)
	}
	wantListed(t, db, "b", "a b helper")
	if parent(t, db, "helper") != "b" {
		t.Error("the delegate lost its parent")
	}
}

func deleteUnknown(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.sessions(t, db, "a")
	h.say(t, db, c, "a")
	for _, id := range []string{"none", "", "a%", "a\x00", "../a"} {
		for _, o := range []sessiondb.DeleteOptions{{}, {Only: true}, {DryRun: true}} {
			if _, err := db.DeleteSession(t.Context(), id, o); !errors.Is(err, sessiondb.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	wantListed(t, db, "a", "a")
}
