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

// A vacuum waits for a table that autovacuum has, longer than a write for a lock, and
// lets its connection be as it was.
func TestVacuumWaits(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "a")
	s := storeAt(t, dsn+"&lock_timeout=20")
	other := raw(t, dsn)
	if _, err := other.Exec(t.Context(), `BEGIN; LOCK TABLE messages IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Compact(t.Context(), engine.CompactOptions{})
		done <- err
	}()
	for waits := 0; waits < 10; { // of ten looks, each longer apart than the lock may take
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(30 * time.Millisecond):
		}
		var n int
		if err := other.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'messages' AND NOT l.granted`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		waits += n
	}
	if _, err := other.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for range leastConns {
		c, err := s.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
		var timeout string
		if err := c.QueryRow(t.Context(), `SHOW lock_timeout`).Scan(&timeout); err != nil || timeout != "20ms" {
			t.Errorf("lock_timeout is %s, %v", timeout, err)
		}
	}
}
