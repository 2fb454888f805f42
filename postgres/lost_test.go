package postgres

import (
	"errors"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// Wherever a connection is lost, a message is there once where a key came with it.
// Without one it is there once too, unless the commit was under way: then the
// caller hears that nobody knows.
func TestConnectionLostInWrite(t *testing.T) {
	direct, dsn := open(t)
	p, through := newProxy(t, dsn)
	db, _ := openIdle(t, through) // what is put into the index commits too
	for _, c := range []struct {
		name    string
		at      cut
		without bool // told as uncertain without a key
		done    bool // although it is there
	}{
		{name: "in no place", at: never},
		{name: "at the begin", at: atBegin},
		{name: "in the middle", at: inside},
		{name: "before the commit", at: beforeCommit, without: true},
		{name: "after the commit", at: afterCommit, without: true, done: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			session(t, direct, c.name)
			m := sessiondb.Message{Role: "user", Content: sessiondb.Text("here")}
			say(t, db, c.name, "so that it has a connection")
			p.next.Store(int32(c.at))
			first, err := db.AppendMessage(t.Context(), c.name, m, sessiondb.Once("k"))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := db.AppendMessage(t.Context(), c.name, m, sessiondb.Once("k")); err != nil || again != first {
				t.Errorf("again gives %d, %v; the first time it was %d", again, err, first)
			}
			p.next.Store(int32(c.at))
			_, err = db.AppendMessage(t.Context(), c.name, m)
			if errors.Is(err, sessiondb.ErrUncertain) != c.without || errors.Is(err, sessiondb.ErrIO) != c.without || !c.without && err != nil {
				t.Errorf("without a key: %v", err)
			}
			want := int64(3) // with the first one
			if c.without && !c.done {
				want--
			}
			s, err := direct.Session(t.Context(), c.name)
			n, _ := direct.MessageCount(t.Context(), c.name)
			if err != nil || s.MessageCount != want || n != want || p.next.Load() != int32(never) {
				t.Errorf("%d messages are counted, %d are there, want %d; %v", s.MessageCount, n, want, err)
			}
		})
	}
}

// A server that ends connections between two calls is not noticed.
func TestConnectionLostBetween(t *testing.T) {
	db, dsn := open(t)
	session(t, db, "s")
	end := func() {
		t.Helper()
		_, err := raw(t, dsn).Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sessiondb' AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
	}
	end()
	say(t, db, "s", "a write after it")
	end()
	if _, err := db.Session(t.Context(), "s"); err != nil {
		t.Error(err)
	}
}
