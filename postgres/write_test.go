package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// Several stores on one schema, as programs on several hosts have, lose nothing
// and agree on who was first.
func TestManyWriters(t *testing.T) {
	_, dsn := open(t)
	const stores, writers, each = 3, 4, 20
	first := openAt(t, dsn)
	session(t, first, "shared")
	session(t, first, "moved")
	if _, err := first.RequestHandoff(t.Context(), "moved", "telegram"); err != nil {
		t.Fatal(err)
	}
	var claimed, titled atomic.Int64
	var group sync.WaitGroup
	for range stores {
		db := openAt(t, dsn)
		for w := range writers {
			group.Go(func() {
				last := int64(0)
				for range each {
					id, err := db.AppendMessage(t.Context(), "shared", sessiondb.Message{Role: "user", Content: sessiondb.Text("hi"), ToolCalls: []byte(`[1,2]`)})
					if err != nil || id <= last {
						t.Errorf("message %d after %d: %v", id, last, err)
					}
					last = id
				}
				if ok, err := db.ClaimHandoff(t.Context(), "moved"); ok {
					claimed.Add(1)
				} else if err != nil {
					t.Error(err)
				}
				id, err := db.CreateSession(t.Context(), sessiondb.NewSession{Source: "cli"})
				if err != nil {
					t.Error(err)
				}
				if err := db.SetTitle(t.Context(), id, fmt.Sprint("title ", w)); err == nil {
					titled.Add(1)
				} else if !errors.Is(err, sessiondb.ErrTitleTaken) {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	s, err := first.Session(t.Context(), "shared")
	if want := int64(stores * writers * each); err != nil || s.MessageCount != want || s.ToolCallCount != 2*want {
		t.Errorf("%d messages, %d calls, %v", s.MessageCount, s.ToolCallCount, err)
	}
	ms, err := first.Messages(t.Context(), "shared")
	if err != nil || !slices.IsSortedFunc(ms, func(a, b sessiondb.Message) int { return int(a.ID - b.ID) }) || int64(len(ms)) != s.MessageCount {
		t.Errorf("%d messages, %v", len(ms), err)
	}
	if claimed.Load() != 1 || titled.Load() != writers {
		t.Errorf("%d claimed the handoff, %d titles were given", claimed.Load(), titled.Load())
	}
}

// A lock that another one never lets go ends in ErrBusy, and nothing is written.
func TestBusy(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "s")
	s, err := openStore(t.Context(), dsn+"&lock_timeout=1", Options{})
	if err != nil {
		t.Fatal(err)
	}
	pauses := 0
	s.pause = func(_ context.Context, d time.Duration) error {
		if pauses++; d < retry.MinPause || d > retry.MaxPause {
			t.Errorf("a pause of %v", d)
		}
		return nil
	}
	impatient := sessiondb.New(s, sessiondb.Config{})
	defer func() { _ = impatient.Close() }()
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `SELECT pg_advisory_lock(`+s.lockKey("write")+`)`); err != nil {
		t.Fatal(err)
	}
	err = impatient.SetTitle(t.Context(), "s", "no")
	if busy := (*sessiondb.BusyError)(nil); !errors.As(err, &busy) || busy.Attempts != retry.Attempts || pauses != retry.Attempts-1 {
		t.Errorf("%v after %d pauses", err, pauses)
	}
	if _, err := c.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	if err := impatient.SetTitle(t.Context(), "s", "yes"); err != nil {
		t.Error(err)
	}
}

// A write is undone where the function that makes it fails or panics.
func TestWriteUndone(t *testing.T) {
	db, dsn := open(t)
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `ALTER TABLE messages ADD CHECK (content <> 'refused')`); err != nil {
		t.Fatal(err)
	}
	session(t, db, "s")
	_, err := db.AppendMessages(t.Context(), "s", []sessiondb.Message{{Role: "user"}, {Role: "user", Content: sessiondb.Text("refused")}})
	if sqlState(err) != "23514" {
		t.Errorf("got %v", err)
	}
	if s, err := db.Session(t.Context(), "s"); err != nil || s.MessageCount != 0 {
		t.Errorf("%d messages are counted, %v", s.MessageCount, err)
	}
	say(t, db, "s", "fine")
}

func TestOpen(t *testing.T) {
	t.Run("several at once make one store", func(t *testing.T) {
		dsn, _ := newSchema(t)
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				db, err := Open(t.Context(), dsn, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				_ = db.Close()
			})
		}
		group.Wait()
	})
	t.Run("for reading makes nothing", func(t *testing.T) {
		dsn, schema := newSchema(t)
		if _, err := Open(t.Context(), dsn, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		var n int
		if err := raw(t, dsn).QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_namespace WHERE nspname = $1`, schema).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d schemas, %v", n, err)
		}
	})
	t.Run("for reading writes nothing", func(t *testing.T) {
		db, dsn := open(t)
		session(t, db, "s")
		reader, err := Open(t.Context(), dsn, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reader.Close() }()
		if err := reader.SetTitle(t.Context(), "s", "no"); !errors.Is(err, sessiondb.ErrReadOnly) {
			t.Errorf("got %v", err)
		}
		if _, err := reader.Session(t.Context(), "s"); err != nil {
			t.Error(err)
		}
	})
	t.Run("tables of another program", func(t *testing.T) {
		dsn, schema := newSchema(t)
		c := raw(t, dsn)
		if _, err := c.Exec(t.Context(), `CREATE SCHEMA `+schema+`; CREATE TABLE `+schema+`.sessions (id bigint)`); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dsn, Options{}); !errors.Is(err, sessiondb.ErrNotStore) {
			t.Errorf("got %v", err)
		}
		var n int
		if err := c.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_tables WHERE schemaname = $1`, schema).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d tables, %v", n, err)
		}
	})
	t.Run("a newer schema", func(t *testing.T) {
		db, dsn := open(t)
		session(t, db, "s")
		if _, err := raw(t, dsn).Exec(t.Context(), `INSERT INTO schema_version VALUES (12)`); err != nil {
			t.Fatal(err)
		}
		newer := openAt(t, dsn)
		if err := newer.SetTitle(t.Context(), "s", "no"); !errors.Is(err, sessiondb.ErrSchemaNewer) || newer.Info().SchemaVersion != 12 {
			t.Errorf("%v, %+v", err, newer.Info())
		}
	})
	t.Run("closed", func(t *testing.T) {
		db, _ := open(t)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if _, err := db.Session(t.Context(), "s"); !errors.Is(err, sessiondb.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no server", func(t *testing.T) {
		_, err := Open(t.Context(), "postgres://nobody:secret@127.0.0.1:1/none?sslmode=disable", Options{})
		if !errors.Is(err, sessiondb.ErrIO) {
			t.Errorf("got %v", err)
		}
		if !errors.Is(err, sessiondb.ErrConnection) || strings.Count(err.Error(), "refused") != 1 || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
		if _, err := Open(t.Context(), "postgres://host:port:what", Options{}); !errors.Is(err, sessiondb.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
}
