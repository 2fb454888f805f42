package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

func testCopy(t *testing.T, h *harness) {
	t.Run("everything", func(t *testing.T) { copyEverything(t, h) })
	t.Run("interrupted", func(t *testing.T) { copyInterrupted(t, h) })
	t.Run("while the source is written to", func(t *testing.T) { copyMoving(t, h) })
	t.Run("a source that never rests", func(t *testing.T) { copyRestless(t, h) })
	t.Run("into what is not empty", func(t *testing.T) { copyRefused(t, h) })
	t.Run("a target that another one writes to", func(t *testing.T) { copyDisturbed(t, h) })
	t.Run("with a trash", func(t *testing.T) { copyTrash(t, h) })
	t.Run("long messages", func(t *testing.T) { copyLong(t, h) })
}

// full is a store with a bit of everything.
func (h *harness) full(t *testing.T) (*sessiondb.DB, *clock) {
	t.Helper()
	db, c := h.store(t)
	importLines(t, db,
		`{"id":"z","parent_session_id":"a","started_at":5,"title":"한글","input_tokens":"many","messages":[{"role":"user","content":"a\u0000b\u0001c","timestamp":"2020-01-01"}]}`,
		`{"id":"a","started_at":5,"message_count":3.5,"output_tokens":null,"messages":[{"role":"assistant","content":[{"type":"text","text":"x"}],"tool_calls":[{"id":"1"}]}]}`,
		`{"id":"self","parent_session_id":"self","started_at":"+Inf"}`)
	h.chain(t, db, c, "one", "two")
	h.child(t, db, "one", "delegate", "cli")
	h.say(t, db, c, "two", "one", "two")
	noError(t, db.UpdateUsage(t.Context(), "one", sessiondb.UsageUpdate{Model: text("m1"), Tokens: sessiondb.Tokens{Input: 7}}))
	h.sessions(t, db, "gone")
	h.child(t, db, "gone", "orphan", "subagent")
	must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "gone", sessiondb.DeleteOptions{}))
	noError(t, db.SetMeta(t.Context(), "key of another program", "value"))
	return db, c
}

func copyAll(t *testing.T, from, to *sessiondb.DB) sessiondb.CopyReport {
	t.Helper()
	return must[sessiondb.CopyReport](t)(sessiondb.Copy(t.Context(), from, to, sessiondb.CopyOptions{}))
}

// same sees to it that two stores export the same, with the ids of messages, and
// list the same.
func same(t *testing.T, a, b *sessiondb.DB) {
	t.Helper()
	if d := cmp.Diff(exportLines(t, a, everything), exportLines(t, b, everything)); d != "" {
		t.Error(d)
	}
	list := func(db *sessiondb.DB) (ids []string) {
		for _, s := range must[[]sessiondb.ListedSession](t)(db.Sessions(t.Context(), sessiondb.ListFilter{Limit: 1000})) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	if d := cmp.Diff(list(a), list(b)); d != "" {
		t.Error(d)
	}
}

func copyEverything(t *testing.T, h *harness) {
	db, _ := h.full(t)
	other, _ := h.store(t)
	r := copyAll(t, db, other)
	if r.Sessions != 7 || r.Messages != 5 || r.Others != 2 || r.Stored != 14 || r.Resumed || r.Checksum == "" {
		t.Errorf("%+v", r)
	}
	same(t, db, other)
	if v, ok, err := other.Meta(t.Context(), "key of another program"); v != "value" || !ok || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if v, ok, err := other.Meta(t.Context(), "sessiondb_copy"); ok || err != nil {
		t.Errorf("a mark is left: %q, %v", v, err)
	}
	if hits := must[sessiondb.SearchResult](t)(other.Search(t.Context(), sessiondb.SearchQuery{Text: "hello"})); len(hits.Hits) != 3 {
		t.Errorf("%d hits", len(hits.Hits))
	}
	third, _ := h.store(t)
	if again := copyAll(t, other, third); again.Checksum != r.Checksum {
		t.Errorf("checksum %s after %s", again.Checksum, r.Checksum)
	}
	empty, _ := h.store(t)
	fourth, _ := h.store(t)
	if r := copyAll(t, empty, fourth); r.Stored != 0 {
		t.Errorf("%+v", r)
	}
	last := messages(t, db, "two")
	if id := say(t, other, "two", "later")[0]; id <= last[len(last)-1].ID {
		t.Errorf("id %d", id)
	}
}

// What lies in the trash of the copy can come back, whatever is said there first.
func copyTrash(t *testing.T, h *harness) {
	db, _ := h.store(t)
	h.sessions(t, db, "stays", "goes")
	said := say(t, db, "goes", "one", "two")
	must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "goes", sessiondb.DeleteOptions{Trash: true}))
	other, _ := h.store(t)
	copyAll(t, db, other)
	same(t, db, other)
	if id := say(t, other, "stays", "later")[0]; id <= said[1] {
		t.Errorf("id %d after %v", id, said)
	}
	trashed := must[sessiondb.Trashed](t)(other.FindTrashed(t.Context(), "goes"))
	must[sessiondb.TrashRestored](t)(other.RestoreTrashed(t.Context(), trashed.ID))
	if d := cmp.Diff([]string{"one", "two"}, texts(messages(t, other, "goes"))); d != "" {
		t.Error(d)
	}
}

// stopping ends a context when something has been reported so many times.
func stopping(t *testing.T, after int) (context.Context, sessiondb.CopyOptions) {
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return ctx, sessiondb.CopyOptions{Progress: func(string, int64, int64) {
		if after--; after < 0 {
			stop()
		}
	}}
}

// However often a copy is interrupted, the next one goes on, and ends with the
// same.
func copyInterrupted(t *testing.T, h *harness) {
	db, c := h.full(t)
	target, _ := h.store(t)
	resumed := 0
	for after := 0; ; after++ {
		ctx, o := stopping(t, after)
		r, err := sessiondb.Copy(ctx, db, target, o)
		if r.Resumed {
			resumed++
		}
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		h.say(t, db, c, "two") // the source goes on
		if after == 3 {
			must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "self", sessiondb.DeleteOptions{}))
		}
	}
	if resumed < 5 {
		t.Errorf("resumed %d times", resumed)
	}
	same(t, db, target)
}

// What is written to the source meanwhile is in the target, what is deleted is
// not.
func copyMoving(t *testing.T, h *harness) {
	db, c := h.full(t)
	target, _ := h.store(t)
	steps := []func(){
		func() { h.sessions(t, db, "new") },
		func() { h.say(t, db, c, "new", "two") },
		func() { noError(t, db.SetTitle(t.Context(), "new", "a title")) },
		func() {
			must[sessiondb.DeleteReport](t)(db.DeleteSession(t.Context(), "two", sessiondb.DeleteOptions{}))
		},
		func() { h.child(t, db, "new", "child", "cli") },
		func() { noError(t, db.SetMeta(t.Context(), "late", "value")) },
	}
	o := sessiondb.CopyOptions{Progress: func(string, int64, int64) {
		if len(steps) > 0 {
			step := steps[0]
			steps = steps[1:]
			step()
		}
	}}
	must[sessiondb.CopyReport](t)(sessiondb.Copy(t.Context(), db, target, o))
	if len(steps) > 0 {
		t.Fatalf("%d steps were not taken", len(steps))
	}
	same(t, db, target)
}

func copyRestless(t *testing.T, h *harness) {
	db, c := h.full(t)
	target, _ := h.store(t)
	o := sessiondb.CopyOptions{Progress: func(string, int64, int64) { h.say(t, db, c, "one") }}
	if _, err := sessiondb.Copy(t.Context(), db, target, o); !errors.Is(err, sessiondb.ErrSourceChanges) {
		t.Fatalf("got %v", err)
	}
	if r := copyAll(t, db, target); !r.Resumed {
		t.Errorf("%+v", r)
	}
	same(t, db, target)
}

func copyRefused(t *testing.T, h *harness) {
	db, _ := h.full(t)
	other, _ := h.full(t)
	before := exportLines(t, other, everything)
	refused := func(from, to *sessiondb.DB, want error, says string) {
		t.Helper()
		if _, err := sessiondb.Copy(t.Context(), from, to, sessiondb.CopyOptions{}); !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v", err)
		}
	}
	refused(db, other, sessiondb.ErrNotEmpty, "7 rows in sessions")
	refused(db, db, sessiondb.ErrNotEmpty, "")
	if d := cmp.Diff(before, exportLines(t, other, everything)); d != "" {
		t.Error(d)
	}
	noted, _ := h.store(t)
	noError(t, noted.SetMeta(t.Context(), "x", "y"))
	refused(db, noted, sessiondb.ErrNotEmpty, "state_meta")
	begun, _ := h.store(t)
	ctx, o := stopping(t, 3)
	if _, err := sessiondb.Copy(ctx, db, begun, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	different, c := h.store(t)
	c.add(time.Hour)
	h.sessions(t, different, "x")
	refused(different, begun, sessiondb.ErrNotEmpty, "begun")
	empty, _ := h.store(t)
	refused(begun, empty, sessiondb.ErrUncopied, "not done")
	version := db.Info().SchemaVersion
	for from, c := range map[*sessiondb.DB]struct {
		version int
		want    error
	}{db: {version, nil}, begun: {version, sessiondb.ErrUncopied}, other: {version - 1, sessiondb.ErrUncopied}} {
		if err := sessiondb.CheckCopy(t.Context(), from, c.version); !errors.Is(err, c.want) {
			t.Errorf("CheckCopy: got %v, want %v", err, c.want)
		}
	}
}

func copyDisturbed(t *testing.T, h *harness) {
	db, c := h.full(t)
	target, _ := h.store(t)
	ctx, o := stopping(t, 4)
	if _, err := sessiondb.Copy(ctx, db, target, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	h.sessions(t, target, "foreign")
	h.say(t, target, c, "foreign")
	_, err := sessiondb.Copy(t.Context(), db, target, sessiondb.CopyOptions{})
	if !errors.Is(err, sessiondb.ErrNotEmpty) || !strings.Contains(err.Error(), "another program wrote to it") {
		t.Errorf("got %v", err)
	}
	if len(messages(t, target, "foreign")) != 1 {
		t.Error("what another program wrote is gone")
	}
}

// Pages of long messages are short ones, and become long again.
func copyLong(t *testing.T, h *harness) {
	db, _ := h.store(t)
	long := strings.Repeat("long ", 1<<18)
	var ms []sessiondb.Message
	for i := range 40 {
		m := sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprint("message ", i))}
		if i < 12 {
			m.Reasoning = text(long + fmt.Sprint(i))
		}
		ms = append(ms, m)
	}
	h.sessions(t, db, "s")
	must[[]int64](t)(db.AppendMessages(t.Context(), "s", ms))
	target, _ := h.store(t)
	if r := copyAll(t, db, target); r.Messages != 40 || r.Stored != 41 {
		t.Errorf("%+v", r)
	}
	same(t, db, target)
}
