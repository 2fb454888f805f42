package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// begun starts a write about names and returns when it has its locks and an id of
// a message; end lets it commit.
func begun(t *testing.T, s *store, id string, names ...string) (end func()) {
	t.Helper()
	has, let, done := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		done <- s.WriteAbout(t.Context(), names, func(tx engine.Execer) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO messages (session_id, role, timestamp) VALUES (?, 'user', 1)`, id)
			has <- err
			<-let
			return nil
		})
	}()
	if err := <-has; err != nil {
		t.Fatal(err)
	}
	return func() {
		close(let)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func storeAt(t *testing.T, dsn string) *store {
	t.Helper()
	s, err := openStore(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A write about one session waits for no other session, whichever process writes
// there; those about one session take turns.
func TestWritesAbout(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "a")
	session(t, db, "b")
	one, two := storeAt(t, dsn), storeAt(t, dsn+"&lock_timeout=20")
	two.pause = func(context.Context, time.Duration) error { return nil }
	other := sessiondb.New(two, sessiondb.Config{})
	end := begun(t, one, "a", "a")
	say(t, other, "b", "not held up")
	if err := other.SetTitle(t.Context(), "b", "neither is a title"); err != nil {
		t.Error(err)
	}
	if _, err := other.AppendMessage(t.Context(), "a", sessiondb.Message{Role: "user"}); !errors.Is(err, sessiondb.ErrBusy) {
		t.Errorf("a second write about a session: %v", err)
	}
	if _, err := other.DeleteSession(t.Context(), "b", sessiondb.DeleteOptions{}); !errors.Is(err, sessiondb.ErrBusy) {
		t.Errorf("a write about everything: %v", err)
	}
	end()
	say(t, other, "a", "now")
}

// Who watches misses no message whose id was given early and committed late.
func TestWatchLateCommit(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "slow")
	session(t, db, "quick")
	end := begun(t, storeAt(t, dsn), "slow", "slow")
	quick := say(t, db, "quick", "first to be committed")
	watcher := openAt(t, dsn+"&application_name=watcher")
	seen := make(chan int64)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		defer close(seen)
		for m, err := range watcher.Watch(ctx, sessiondb.WatchFilter{Every: time.Millisecond}) {
			if err != nil {
				t.Error(err)
				return
			}
			seen <- m.ID
		}
	}()
	c := raw(t, dsn)
	for looked := false; !looked; { // one that did not wait would have the quick one by now
		err := c.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'watcher' AND query LIKE '%pg_locks%')`).Scan(&looked)
		if err != nil {
			t.Fatal(err)
		}
	}
	end()
	if slow, next := <-seen, <-seen; slow >= quick || next != quick {
		t.Errorf("saw %d and then %d, the quick one is %d", slow, next, quick)
	}
	stop()
	for range seen {
	}
}

// No two schemas share a lock, whatever they and their sessions are called.
func TestLockNames(t *testing.T) {
	seen := map[string][2]string{}
	for _, schema := range []string{"a", "a:", "a::", ":a", "a:about", "a:about:b", "a::about"} {
		for _, what := range []string{storeLock, "about:", "about:b", "about::b", "about:b:write", "about:about:b", "about:b:about:b"} {
			name := lockName(schema, what)
			if other, ok := seen[name]; ok {
				t.Errorf("%q and %q have one lock", other, [2]string{schema, what})
			}
			seen[name] = [2]string{schema, what}
		}
	}
}
