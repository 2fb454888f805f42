package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

const insertMeta = "INSERT INTO state_meta (key, value) VALUES (?, ?)"

// put is a write that leaves a key behind.
func put(ctx context.Context, key string) func(engine.Execer) error {
	return func(tx engine.Execer) error {
		_, err := tx.Exec(ctx, insertMeta, key, "x")
		return err
	}
}

func keys(t *testing.T, s *store) []string {
	t.Helper()
	return dump(t, raw(t, s.path), "SELECT key FROM state_meta ORDER BY key")
}

// together runs writes so that they share a transaction: the first one holds
// the lead until the others wait in line.
func together(t *testing.T, s *store, fns ...func(engine.Execer) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	started := false
	first := func(tx engine.Execer) error {
		if started {
			return nil
		}
		started = true
		for i, fn := range fns {
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						errs[i] = fmt.Errorf("panic: %v", v)
					}
				}()
				errs[i] = s.Write(t.Context(), fn)
			})
			waitInLine(s, i+1)
		}
		return nil
	}
	if err := s.Write(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return errs
}

// waitInLine returns when n jobs wait.
func waitInLine(s *store, n int) {
	for {
		s.writer.mu.Lock()
		have := len(s.writer.line)
		s.writer.mu.Unlock()
		if have >= n {
			return
		}
		yieldProcessor()
	}
}

func TestWritesShareATransaction(t *testing.T) {
	s := fresh(t)
	before := s.sinceCheckpoint
	errs := together(t, s, put(t.Context(), "a"), put(t.Context(), "b"), put(t.Context(), "c"))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := s.sinceCheckpoint - before; n != 1 {
		t.Errorf("%d transactions for writes that waited together", n)
	}
	if got := keys(t, s); len(got) != 3 {
		t.Errorf("stored %v", got)
	}
}

func TestEachWriteGetsItsOwnError(t *testing.T) {
	s := fresh(t)
	own := errors.New("own")
	errs := together(t, s,
		put(t.Context(), "a"),
		func(tx engine.Execer) error {
			if err := put(t.Context(), "undone")(tx); err != nil {
				return err
			}
			return own
		},
		put(t.Context(), "a"), // taken
		func(tx engine.Execer) error {
			if err := put(t.Context(), "undone too")(tx); err != nil {
				return err
			}
			panic("oops")
		},
		put(t.Context(), "b"))
	if errs[0] != nil || errs[4] != nil {
		t.Errorf("good writes failed: %v, %v", errs[0], errs[4])
	}
	if !errors.Is(errs[1], own) || errs[2] == nil || fmt.Sprint(errs[3]) != "panic: oops" {
		t.Errorf("errors %v", errs)
	}
	if got := keys(t, s); len(got) != 2 {
		t.Errorf("stored %v", got)
	}
}

// One write makes SQLite roll the whole transaction back; the others are done
// again without it.
func TestFullDiskHitsOnlyWhoFillsIt(t *testing.T) {
	s := fresh(t)
	pages := scalar[int64](t, s.w, "PRAGMA page_count")
	scalar[int64](t, s.w, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20))
	errs := together(t, s,
		put(t.Context(), "a"),
		func(tx engine.Execer) error {
			_, err := tx.Exec(t.Context(), insertMeta, "big", string(make([]byte, 1<<20)))
			return err
		},
		put(t.Context(), "b"))
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("small writes failed: %v, %v", errs[0], errs[2])
	}
	if !errors.Is(errs[1], sessiondb.ErrFull) {
		t.Errorf("big write: %v", errs[1])
	}
	if got := keys(t, s); len(got) != 2 {
		t.Errorf("stored %v", got)
	}
	scalar[int64](t, s.w, "PRAGMA max_page_count = 1000000")
	if err := s.Write(t.Context(), put(t.Context(), "after")); err != nil {
		t.Errorf("after the disk had room: %v", err)
	}
}

// A function that goes on after such an error must not write outside of the
// transaction.
func TestNothingIsWrittenAfterSQLiteRolledBack(t *testing.T) {
	s := fresh(t)
	pages := scalar[int64](t, s.w, "PRAGMA page_count")
	scalar[int64](t, s.w, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20))
	err := s.Write(t.Context(), func(tx engine.Execer) error {
		_, _ = tx.Exec(t.Context(), insertMeta, "big", string(make([]byte, 1<<20)))
		_, _ = tx.Exec(t.Context(), insertMeta, "stray", "x")
		return nil
	})
	if !errors.Is(err, sessiondb.ErrFull) {
		t.Errorf("error %v", err)
	}
	if got := keys(t, s); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}

func TestCancelEndsTheWait(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting error
	done := make(chan struct{})
	err := s.Write(t.Context(), func(engine.Execer) error {
		go func() {
			waiting = s.Write(ctx, put(ctx, "never"))
			close(done)
		}()
		waitInLine(s, 1)
		cancel()
		<-done // while the writer is still taken
		return nil
	})
	if err != nil || !errors.Is(waiting, context.Canceled) {
		t.Errorf("leader %v, cancelled %v", err, waiting)
	}
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Error(err)
	}
	if got := keys(t, s); len(got) != 1 {
		t.Errorf("stored %v", got)
	}
}

func TestCancelBetweenStatements(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, func(tx engine.Execer) error {
		if err := put(ctx, "a")(tx); err != nil {
			return err
		}
		cancel()
		return put(ctx, "b")(tx)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := keys(t, s); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}

// holdLock takes the write lock as another program would.
func holdLock(t *testing.T, path string) (release func()) {
	t.Helper()
	c := raw(t, path)
	run(t, c, "BEGIN IMMEDIATE")
	return func() { run(t, c, "ROLLBACK") }
}

func TestBusyIsRetriedThenReported(t *testing.T) {
	pauses := 0
	s := openWith(t, newPath(t), Options{}, settings{pause: noPause(&pauses), busy: 1})
	release := holdLock(t, s.path)
	err := s.Write(t.Context(), put(t.Context(), "a"))
	var busy *sessiondb.BusyError
	if !errors.As(err, &busy) || busy.Attempts != retry.Attempts || !errors.Is(err, sessiondb.ErrBusy) {
		t.Errorf("error %v", err)
	}
	if pauses != retry.Attempts-1 {
		t.Errorf("%d pauses between %d attempts", pauses, retry.Attempts)
	}
	release()
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Errorf("once free: %v", err)
	}
}

// Turning the log on fails at once where another program writes: a new store
// waits as long for that as for anything.
func TestCreationWaitsForAnotherWriter(t *testing.T) {
	path := newPath(t)
	other, err := openConn(t.Context(), path, access{mode: "rwc"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.close() }()
	run(t, other, "BEGIN IMMEDIATE")
	n := 0
	s := openWith(t, path, Options{}, settings{pause: func(context.Context, time.Duration) error {
		if n++; n == 2*retry.Attempts {
			run(t, other, "ROLLBACK")
		}
		return nil
	}})
	if n != 2*retry.Attempts {
		t.Errorf("opened after %d pauses", n)
	}
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Error(err)
	}
}

func TestBusyEndsWhenTheLockIsFree(t *testing.T) {
	var release func()
	n := 0
	s := openWith(t, newPath(t), Options{}, settings{busy: 1, pause: func(context.Context, time.Duration) error {
		if n++; n == 3 {
			release()
		}
		return nil
	}})
	release = holdLock(t, s.path)
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil || n != 3 {
		t.Errorf("%v after %d pauses", err, n)
	}
}

func TestCancelEndsABusyWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := openWith(t, newPath(t), Options{}, settings{busy: 1, pause: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}})
	defer holdLock(t, s.path)()
	if err := s.Write(ctx, put(ctx, "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Who waits behind a leader that gives up leads next.
func TestTheNextLeadsWhenALeaderLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var release func()
	next := make(chan error, 1)
	var s *store
	s = openWith(t, newPath(t), Options{}, settings{busy: 1, pause: func(c context.Context, _ time.Duration) error {
		if ctx.Err() == nil {
			go func() { next <- s.Write(t.Context(), put(t.Context(), "next")) }()
			waitInLine(s, 1)
			cancel()
			release()
		}
		return c.Err()
	}})
	release = holdLock(t, s.path)
	if err := s.Write(ctx, put(ctx, "left")); !errors.Is(err, context.Canceled) {
		t.Errorf("leader: %v", err)
	}
	if err := <-next; err != nil {
		t.Errorf("next: %v", err)
	}
	if got := keys(t, s); len(got) != 1 {
		t.Errorf("stored %v", got)
	}
}

func TestClosed(t *testing.T) {
	s := fresh(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), put(t.Context(), "a")); !errors.Is(err, sessiondb.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := s.Read(t.Context(), func(engine.Queryer) error { return nil }); !errors.Is(err, sessiondb.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if err := compact(t, s); !errors.Is(err, sessiondb.ErrClosed) {
		t.Errorf("compact: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

func TestCheckpoints(t *testing.T) {
	s := fresh(t)
	reader := raw(t, s.path)
	run(t, reader, "BEGIN")
	scalar[int64](t, reader, "SELECT COUNT(*) FROM state_meta")
	write := func(n int) {
		for i := range n {
			big := strings.Repeat(string(rune('a'+i%26)), 100_000)
			err := s.Write(t.Context(), func(tx engine.Execer) error {
				_, err := tx.Exec(t.Context(), "INSERT INTO state_meta (key, value) VALUES ('k', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", big)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write(100)
	if size := fileSize(t, s.path+"-wal"); size < walLimit {
		t.Fatalf("a reader did not hold the log: %d bytes", size)
	}
	run(t, reader, "COMMIT")
	write(checkpointEvery + 1)
	if size := fileSize(t, s.path+"-wal"); size > walLimit+1<<20 {
		t.Errorf("the log stays at %d bytes", size)
	}
	_ = reader.close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if exists(s.path + "-wal") {
		t.Error("a log is left after Close")
	}
}

// A file that another program keeps to itself is busy, not damaged: it is left
// as it is, and opens once it is free.
func TestOpenWhileLockedWhole(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	other := raw(t, path)
	run(t, other, "PRAGMA journal_mode = DELETE")
	run(t, other, "BEGIN EXCLUSIVE")
	before := neighbours(t, path)
	for _, o := range []Options{{}, {ReadOnly: true}} {
		pauses := 0
		_, err := openStore(t.Context(), path, o, settings{pause: noPause(&pauses), busy: 1})
		if !errors.Is(err, sessiondb.ErrBusy) || pauses < retry.Attempts-1 {
			t.Errorf("%+v: %v after %d pauses", o, err, pauses)
		}
	}
	after := neighbours(t, path)
	if after = slices.DeleteFunc(after, func(name string) bool { return name == queueSuffix }); !slices.Equal(after, before) {
		t.Errorf("%q became %q", before, after)
	}
	run(t, other, "ROLLBACK")
	if err := open(t, path, Options{}).Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Errorf("once free: %v", err)
	}
}
