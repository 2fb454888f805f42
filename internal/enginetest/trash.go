package enginetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

func testTrash(t *testing.T, h *harness) {
	t.Run("what is restored is as it was", func(t *testing.T) { trashRoundTrip(t, h) })
	t.Run("what is pruned can be restored one by one", func(t *testing.T) { trashPrune(t, h) })
	t.Run("the order of restoring does not matter", func(t *testing.T) { trashOrder(t, h) })
	t.Run("one row of a chain", func(t *testing.T) { trashOnly(t, h) })
	t.Run("what is in the way", func(t *testing.T) { trashConflicts(t, h) })
	t.Run("finding", func(t *testing.T) { trashFind(t, h) })
	t.Run("emptying", func(t *testing.T) { trashEmpty(t, h) })
	t.Run("nothing goes there unasked", func(t *testing.T) { trashUnasked(t, h) })
	t.Run("a copy of the store has it", func(t *testing.T) { trashCopy(t, h) })
	t.Run("a fork and its parent", func(t *testing.T) { trashFork(t, h) })
}

// wholeStore is everything in a store.
func wholeStore(t *testing.T, db *sessiondb.DB) string {
	t.Helper()
	var b bytes.Buffer
	must[int64](t)(db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{}))
	return b.String()
}

// family makes sessions of all kinds: a chain a-b-c with a delegate and a branch,
// and another conversation with a delegate.
func (h *harness) family(t *testing.T, db *sessiondb.DB, c *clock) {
	t.Helper()
	h.chain(t, db, c, "a", "b", "c")
	h.child(t, db, "b", "helper", "subagent")
	h.branch(t, db, c, "c", "branch")
	h.sessions(t, db, "other")
	h.child(t, db, "other", "silent", "cli")
	for _, id := range []string{"a", "b", "c", "helper", "silent", "branch", "other"} {
		c.add(time.Second)
		must[[]int64](t)(db.AppendMessages(t.Context(), id, []sessiondb.Message{
			{Role: "user", Content: sessiondb.Text("hello from " + id)},
			{Role: "assistant", Content: sessiondb.Structured([]byte(`[{"type":"text","text":"배포 \u0000 말씀"}]`)), ToolCalls: []byte(`[{"name":"look"}]`), ReasoningContent: text("")},
		}))
		noError(t, db.SetTitle(t.Context(), id, "title of "+id))
		noError(t, db.UpdateUsage(t.Context(), id, sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 10}, Model: text("one")}))
		noError(t, db.UpdateUsage(t.Context(), id, sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 5}, Model: text("two")}))
	}
}

func inTrash(t *testing.T, db *sessiondb.DB) []sessiondb.Trashed {
	t.Helper()
	return must[[]sessiondb.Trashed](t)(db.Trash(t.Context(), sessiondb.TrashFilter{Limit: -1}))
}

// bringBack restores what a person means.
func bringBack(t *testing.T, db *sessiondb.DB, ref string) sessiondb.TrashRestored {
	t.Helper()
	e := must[sessiondb.Trashed](t)(db.FindTrashed(t.Context(), ref))
	return must[sessiondb.TrashRestored](t)(db.RestoreTrashed(t.Context(), e.ID))
}

func trashRoundTrip(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	before, shape := wholeStore(t, db), tree(t, db, "a")
	usage := must[[]sessiondb.UsageRow](t)(db.UsageByModel(t.Context(), sessiondb.UsageFilter{}))
	for _, id := range []string{"a", "c", "helper", "silent", "branch", "other"} {
		c.add(time.Second)
		gone := remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
		if _, err := db.Session(t.Context(), id); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Fatalf("%s after it was deleted: %v", id, err)
		}
		if found := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: `"from ` + id + `"`})); len(found.Hits) > 0 {
			t.Errorf("%s is found", id)
		}
		all := inTrash(t, db)
		if len(all) != 1 || all[0].Sessions != int64(len(gone.Sessions)) || all[0].Messages != gone.Messages || all[0].Messages != 2*all[0].Sessions ||
			!slices.Contains(gone.Sessions, all[0].Session.ID) || !all[0].DeletedAt.Equal(c.now()) || !all[0].ExpiresAt.Equal(c.now().Add(30*24*time.Hour)) {
			t.Fatalf("%s: in the trash %+v", id, all)
		}
		if a := wholeStore(t, db); strings.Contains(a, "title of "+id) {
			t.Errorf("%s is exported", id)
		}
		r := bringBack(t, db, id)
		if len(r.Sessions) != len(gone.Sessions) || r.Messages != gone.Messages || len(r.Untitled) > 0 || !slices.Equal(r.Rejoined, gone.Orphaned) && len(gone.Orphaned) > 0 {
			t.Errorf("%s: restored %+v of %+v", id, r, gone)
		}
		if after := wholeStore(t, db); after != before {
			t.Errorf("%s: restored as\n%s\nwas\n%s", id, after, before)
		}
		wantTree(t, db, "a", shape)
		if found := must[sessiondb.SearchResult](t)(db.Search(t.Context(), sessiondb.SearchQuery{Text: `"from ` + id + `"`})); len(found.Hits) != 1 {
			t.Errorf("%s: %d hits", id, len(found.Hits))
		}
		if len(inTrash(t, db)) > 0 {
			t.Errorf("%s: something stayed in the trash", id)
		}
	}
	if got := must[[]sessiondb.UsageRow](t)(db.UsageByModel(t.Context(), sessiondb.UsageFilter{})); len(got) != 2 || got[0].Tokens != usage[0].Tokens || got[1].Tokens != usage[1].Tokens {
		t.Errorf("usage %+v, was %+v", got, usage)
	}
	found := must[[]sessiondb.Finding](t)(db.Check(t.Context(), sessiondb.CheckOptions{}))
	found = slices.DeleteFunc(found, func(f sessiondb.Finding) bool { return f.Code == "free_pages" }) // a schema that tests before this one emptied
	if len(found) > 0 {
		t.Errorf("the check finds %v", found)
	}
	// New messages come after those that came back.
	last := must[[]sessiondb.Message](t)(db.Messages(t.Context(), "other"))
	if id := must[int64](t)(db.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user"})); id <= last[1].ID {
		t.Errorf("message %d", id)
	}
}

func trashPrune(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	for _, id := range []string{"a", "b", "c", "helper", "silent", "branch", "other"} {
		noError(t, db.EndSession(t.Context(), id, "done"))
	}
	before := wholeStore(t, db)
	c.add(100 * 24 * time.Hour)
	r := must[sessiondb.DeleteReport](t)(db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{Trash: true}))
	all := inTrash(t, db)
	if len(r.Sessions) != 7 || len(all) != 5 {
		t.Fatalf("pruned %v, in the trash %d", r.Sessions, len(all))
	}
	if n, messages, err := db.TrashSize(t.Context()); err != nil || n != 5 || messages != 14 {
		t.Errorf("%d conversations, %d messages, %v", n, messages, err)
	}
	for _, e := range all {
		must[sessiondb.TrashRestored](t)(db.RestoreTrashed(t.Context(), e.ID))
	}
	if after := wholeStore(t, db); after != before {
		t.Errorf("restored as\n%s\nwas\n%s", after, before)
	}
}

func trashOrder(t *testing.T, h *harness) {
	for _, deleted := range []string{"a helper branch", "helper a branch", "branch helper a"} {
		for _, restored := range []string{"a helper branch", "branch helper a", "helper a branch"} {
			db, c := h.store(t)
			h.family(t, db, c)
			before := wholeStore(t, db)
			for _, id := range strings.Fields(deleted) {
				c.add(time.Second)
				remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
			}
			for _, id := range strings.Fields(restored) {
				c.add(time.Second)
				bringBack(t, db, id)
			}
			if after := wholeStore(t, db); after != before {
				t.Errorf("deleted %s, restored %s: is\n%s\nwas\n%s", deleted, restored, after, before)
			}
		}
	}
}

func trashOnly(t *testing.T, h *harness) {
	for _, id := range []string{"a", "b", "c"} {
		db, c := h.store(t)
		h.family(t, db, c)
		before := wholeStore(t, db)
		c.add(time.Second)
		remove(t, db, id, sessiondb.DeleteOptions{Trash: true, Only: true})
		bringBack(t, db, id)
		if after := wholeStore(t, db); after != before {
			t.Errorf("only %s: restored as\n%s\nwas\n%s", id, after, before)
		}
	}
}

func trashConflicts(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	remove(t, db, "other", sessiondb.DeleteOptions{Trash: true})
	remove(t, db, "c", sessiondb.DeleteOptions{Trash: true})
	c.add(time.Second)
	h.sessions(t, db, "other", "new")
	noError(t, db.SetTitle(t.Context(), "new", "title of b"))
	e := must[sessiondb.Trashed](t)(db.FindTrashed(t.Context(), "other"))
	if _, err := db.RestoreTrashed(t.Context(), e.ID); !errors.Is(err, sessiondb.ErrExists) || !strings.Contains(err.Error(), "session other is there again") {
		t.Errorf("restored over another session: %v", err)
	}
	if r := bringBack(t, db, "b"); !slices.Equal(r.Untitled, []string{"b"}) || len(r.Sessions) != 3 {
		t.Errorf("restored %+v", r)
	}
	if s := must[sessiondb.Session](t)(db.Session(t.Context(), "b")); s.Title != nil {
		t.Errorf("title %q", *s.Title)
	}
	// The new session of that id goes there too; of both, the last one is meant.
	c.add(time.Second)
	remove(t, db, "other", sessiondb.DeleteOptions{Trash: true})
	if r := bringBack(t, db, "other"); r.Messages != 0 {
		t.Errorf("the older one came back: %+v", r)
	}
	remove(t, db, "other", sessiondb.DeleteOptions{})
	if r := bringBack(t, db, "other"); r.Messages != 2 {
		t.Errorf("came back: %+v", r)
	}
	if _, err := db.RestoreTrashed(t.Context(), e.ID); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Errorf("restored twice: %v", err)
	}
}

func trashFind(t *testing.T, h *harness) {
	db, c := h.store(t)
	if _, err := db.FindTrashed(t.Context(), "a"); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Errorf("in an empty trash: %v", err)
	}
	h.family(t, db, c)
	h.sessions(t, db, "bra%", "branch2")
	for _, id := range []string{"branch", "bra%", "branch2", "c"} {
		remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
	}
	for ref, want := range map[string]string{"b": "c", "branch": "branch", "bra%": "bra%", "title of a": "c", "branch2": "branch2"} {
		if e := must[sessiondb.Trashed](t)(db.FindTrashed(t.Context(), ref)); e.Session.ID != want {
			t.Errorf("%q is %s, want %s", ref, e.Session.ID, want)
		}
	}
	var several *sessiondb.AmbiguousError
	if _, err := db.FindTrashed(t.Context(), "bra"); !errors.As(err, &several) || len(several.Candidates) != 3 {
		t.Errorf("a prefix of several: %v", err)
	}
	for _, ref := range []string{"", "x", "%", "title of other"} {
		if _, err := db.FindTrashed(t.Context(), ref); !errors.Is(err, sessiondb.ErrNotFound) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	first := must[[]sessiondb.Trashed](t)(db.Trash(t.Context(), sessiondb.TrashFilter{Limit: 1, Offset: 1}))
	if len(first) != 1 {
		t.Errorf("a page of %d", len(first))
	}
}

func trashEmpty(t *testing.T, h *harness) {
	db, c := h.store(t)
	if r := must[sessiondb.TrashEmptied](t)(db.EmptyTrash(t.Context(), sessiondb.EmptyTrashOptions{})); r != (sessiondb.TrashEmptied{}) {
		t.Errorf("emptied %+v", r)
	}
	h.family(t, db, c)
	remove(t, db, "c", sessiondb.DeleteOptions{Trash: true})
	c.add(20 * 24 * time.Hour)
	remove(t, db, "branch", sessiondb.DeleteOptions{Trash: true})
	want := sessiondb.TrashEmptied{Conversations: 1, Sessions: 3, Messages: 6}
	for _, dry := range []bool{true, false} {
		if r := must[sessiondb.TrashEmptied](t)(db.EmptyTrash(t.Context(), sessiondb.EmptyTrashOptions{OlderThan: 20 * 24 * time.Hour, DryRun: dry})); r != want {
			t.Errorf("emptied %+v", r)
		}
	}
	if all := inTrash(t, db); len(all) != 1 || all[0].Session.ID != "branch" {
		t.Errorf("in the trash %+v", all)
	}
	if r := must[sessiondb.TrashEmptied](t)(db.EmptyTrash(t.Context(), sessiondb.EmptyTrashOptions{IDs: []string{"none"}})); r != (sessiondb.TrashEmptied{}) {
		t.Errorf("emptied %+v", r)
	}
	// What is deleted next takes away what has expired; so does maintenance.
	c.add(30 * 24 * time.Hour)
	remove(t, db, "helper", sessiondb.DeleteOptions{Trash: true})
	if all := inTrash(t, db); len(all) != 1 || all[0].Session.ID != "helper" {
		t.Errorf("in the trash %+v", all)
	}
	c.add(30 * 24 * time.Hour)
	if r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{}); r.Err != nil {
		t.Error(r.Err)
	}
	if all := inTrash(t, db); len(all) != 0 {
		t.Errorf("in the trash %+v", all)
	}
	if _, err := db.EmptyTrash(t.Context(), sessiondb.EmptyTrashOptions{OlderThan: -1}); !errors.Is(err, sessiondb.ErrInvalid) {
		t.Error(err)
	}
}

func trashUnasked(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	remove(t, db, "a", sessiondb.DeleteOptions{})
	remove(t, db, "other", sessiondb.DeleteOptions{Trash: true, DryRun: true})
	if all := inTrash(t, db); len(all) != 0 {
		t.Errorf("in the trash %+v", all)
	}
	if _, err := db.RestoreTrashed(t.Context(), "none"); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Error(err)
	}
}

func trashFork(t *testing.T, h *harness) {
	for _, o := range []sessiondb.ForkOptions{{ID: "f"}, {ID: "f", EndParent: true}} {
		for _, first := range []string{"other", "f"} {
			db, c := h.store(t)
			h.family(t, db, c)
			must[sessiondb.Session](t)(db.Fork(t.Context(), "other", 0, o))
			for _, id := range []string{"other", "f"} {
				c.add(time.Second)
				remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
			}
			bringBack(t, db, first)
			bringBack(t, db, map[string]string{"other": "f", "f": "other"}[first])
			wantTree(t, db, "other", "0 other root,1 silent delegate,1 f branch")
			if ms := must[[]sessiondb.ConversationMessage](t)(db.Conversation(t.Context(), "f", true)); len(ms) != 2 {
				t.Errorf("%+v, %s first: %d messages with ancestors", o, first, len(ms))
			}
		}
	}
}

func trashCopy(t *testing.T, h *harness) {
	db, c := h.store(t)
	h.family(t, db, c)
	before := wholeStore(t, db)
	for _, id := range []string{"a", "helper", "other"} {
		c.add(time.Second)
		remove(t, db, id, sessiondb.DeleteOptions{Trash: true})
	}
	copied, later := h.store(t)
	later.set(c.now())
	copyAll(t, db, copied)
	same(t, db, copied)
	for _, id := range []string{"helper", "other", "a"} {
		bringBack(t, copied, id)
	}
	if after := wholeStore(t, copied); after != before {
		t.Errorf("restored as\n%s\nwas\n%s", after, before)
	}
}
