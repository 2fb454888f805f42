package enginetest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
)

// once appends a message with a key.
func once(t *testing.T, db *sessiondb.DB, session, key, text string) int64 {
	t.Helper()
	return must[int64](t)(db.AppendMessage(t.Context(), session, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)}, sessiondb.Once(key)))
}

func appendOnce(t *testing.T, h *harness) {
	db, _ := h.store(t)
	session(t, db, "a")
	session(t, db, "b")
	first := once(t, db, "a", "k", "one")
	if again := once(t, db, "a", "k", "one"); again != first {
		t.Errorf("%d the second time, %d the first", again, first)
	}
	if next := once(t, db, "a", "l", "two"); next <= first {
		t.Errorf("another key gave %d after %d", next, first)
	}
	if elsewhere := once(t, db, "b", "k", "three"); elsewhere <= first {
		t.Errorf("the key of another session gave %d after %d", elsewhere, first)
	}
	calls := sessiondb.Message{Role: "assistant", ToolCalls: []byte(`[1,2]`)}
	several := func() []int64 {
		return must[[]int64](t)(db.AppendMessages(t.Context(), "a", []sessiondb.Message{calls, calls}, sessiondb.Once("m")))
	}
	if diff := cmp.Diff(several(), several()); diff != "" {
		t.Errorf("several messages: %s", diff)
	}
	if got, want := counters(t, db, "a"), [2]int64{4, 4}; got != want {
		t.Errorf("counters are %v, want %v", got, want)
	}
	if n := must[int64](t)(db.MessageCount(t.Context(), "a")); n != 4 {
		t.Errorf("%d messages", n)
	}
	for _, key := range []string{"", strings.Repeat("x", 201), "\xff", "a\x00b"} {
		if _, err := db.AppendMessage(t.Context(), "a", calls, sessiondb.Once(key)); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if _, err := db.AppendMessage(t.Context(), "a", calls, sessiondb.Once("m")); !errors.Is(err, sessiondb.ErrInvalid) {
		t.Errorf("the key of two messages for one: %v", err)
	}
	if _, err := db.AppendMessage(t.Context(), "none", calls, sessiondb.Once("k")); !errors.Is(err, sessiondb.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
	appendOnceAtOnce(t, db)
}

// appendOnceAtOnce makes the same call several times at the same moment.
func appendOnceAtOnce(t *testing.T, db *sessiondb.DB) {
	ids := make([]int64, 8)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() {
			var err error
			ids[i], err = db.AppendMessage(t.Context(), "b", sessiondb.Message{Role: "user"}, sessiondb.Once("race"))
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, id := range ids {
		if id != ids[0] || id == 0 {
			t.Errorf("one call gave the ids %v", ids)
			break
		}
	}
	if got, want := counters(t, db, "b"), [2]int64{2, 0}; got != want {
		t.Errorf("counters are %v, want %v", got, want)
	}
}

// keysForgotten: a week later a prune drops a key, and a deletion does at once.
func keysForgotten(t *testing.T, h *harness) {
	db, c := h.store(t)
	session(t, db, "a")
	first := once(t, db, "a", "k", "one")
	prune := func() {
		t.Helper()
		if _, err := db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.add(6 * 24 * time.Hour)
	prune()
	if id := once(t, db, "a", "k", "one"); id != first {
		t.Errorf("after six days %d, not %d", id, first)
	}
	c.add(2 * 24 * time.Hour)
	prune()
	if id := once(t, db, "a", "k", "one"); id == first {
		t.Error("after eight days the key is still known")
	}
	if _, err := db.DeleteSession(t.Context(), "a", sessiondb.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	session(t, db, "a")
	once(t, db, "a", "k", "anew")
	if got, want := counters(t, db, "a"), [2]int64{1, 0}; got != want {
		t.Errorf("counters are %v, want %v", got, want)
	}
}
