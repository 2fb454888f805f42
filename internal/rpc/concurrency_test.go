package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/rpc"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// gate is a clock that can be made to stop whoever asks for the time, so that
// a call is under way for as long as a test wants.
type gate struct {
	armed   atomic.Bool
	entered chan struct{}
	leave   chan struct{}
	panics  atomic.Bool
}

func (g *gate) now() time.Time {
	if g.panics.Load() {
		panic("the clock is broken")
	}
	if g.armed.CompareAndSwap(true, false) {
		g.entered <- struct{}{}
		<-g.leave
	}
	return time.Unix(fixture.Now, 0)
}

func gated(t *testing.T) (*sessiondb.DB, *gate) {
	t.Helper()
	g := &gate{entered: make(chan struct{}), leave: make(chan struct{})}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{Now: g.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, id := range []string{"a", "b"} {
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	return db, g
}

func (c *conn) wantID(id string) answer {
	c.t.Helper()
	a := c.receive()
	if string(a.ID) != id {
		c.t.Fatalf("the answer to %s came, not that to %s", a.ID, id)
	}
	return a
}

func (c *conn) close() {
	c.t.Helper()
	_ = c.in.Close()
	if err := <-c.end; err != nil {
		c.t.Error(err)
	}
}

// A read that takes long holds up no other.
func TestReadsRunTogether(t *testing.T) {
	db, g := gated(t)
	c := serve(t.Context(), t, db, rpc.Options{})
	g.armed.Store(true)
	c.send(call(1, "list_sessions_rich", `{}`))
	<-g.entered
	c.send(call(2, "get_session", `["a"]`))
	c.wantID("2")
	g.leave <- struct{}{}
	c.wantID("1")
	c.close()
}

// What names the session that is being written, or the whole store, waits;
// what names another one does not.
func TestWritesAreWaitedFor(t *testing.T) {
	for _, waiting := range []string{
		call(2, "get_messages", `["a"]`),
		call(2, "message_count", `{}`),
		call(2, "create_session", `{"session_id":"child","parent_session_id":"a"}`),
		call(2, "prune_sessions", `{}`),
		call(2, "set_session_title", `["b","title"]`),
	} {
		t.Run(waiting, func(t *testing.T) {
			db, g := gated(t)
			c := serve(t.Context(), t, db, rpc.Options{})
			g.armed.Store(true)
			c.send(call(1, "append_message", `["a","user","hello"]`))
			<-g.entered
			c.send(waiting)
			c.send(`{"jsonrpc":"2.0","id":3,"method":"rpc.discover"}`)
			c.wantID("3")
			g.leave <- struct{}{}
			c.wantID("1")
			if a := c.wantID("2"); a.Error != nil {
				t.Errorf("%+v", a.Error)
			}
			c.close()
		})
	}
}

func TestOtherSessionsDoNotWait(t *testing.T) {
	db, g := gated(t)
	c := serve(t.Context(), t, db, rpc.Options{})
	g.armed.Store(true)
	c.send(call(1, "append_message", `["a","user","hello"]`))
	<-g.entered
	c.send(call(2, "get_messages", `["a"]`))
	c.send(call(3, "get_messages", `["b"]`))
	c.send(call(4, "sanitize_title", `[" x "]`))
	first, second := c.receive(), c.receive()
	if got := string(first.ID) + string(second.ID); got != "34" && got != "43" {
		t.Errorf("answered %s first", got)
	}
	g.leave <- struct{}{}
	c.wantID("1")
	var ms []map[string]any
	if a := c.wantID("2"); json.Unmarshal(a.Result, &ms) != nil || len(ms) != 1 {
		t.Errorf("got %s", a.Result)
	}
	c.close()
}

// With one worker everything still gets its turn.
func TestOneWorker(t *testing.T) {
	var in []string
	for range 50 {
		in = append(in, call(1, "append_message", `["a","user","x"]`), call(2, "get_messages", `["a"]`), call(3, "list_sessions_rich", `[]`))
	}
	db, _ := gated(t)
	if got := ask(t, db, rpc.Options{Workers: 1}, in...); len(got) != len(in) {
		t.Errorf("%d answers to %d requests", len(got), len(in))
	}
}

// The end of the context cancels what runs, and says so to who asked.
func TestCallIsCancelled(t *testing.T) {
	db, g := gated(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(ctx, t, db, rpc.Options{})
	g.armed.Store(true)
	c.send(call(1, "list_sessions_rich", `{}`))
	<-g.entered
	cancel()
	g.leave <- struct{}{}
	if a := c.wantID("1"); a.Error == nil || a.Error.Data["kind"] != "cancelled" {
		t.Errorf("got %s, %+v", a.Result, a.Error)
	}
	if err := <-c.end; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The end of the input waits for what runs.
func TestInputEnds(t *testing.T) {
	db, g := gated(t)
	c := serve(t.Context(), t, db, rpc.Options{})
	g.armed.Store(true)
	c.send(call(1, "append_message", `["a","user","hello"]`))
	<-g.entered
	_ = c.in.Close()
	g.leave <- struct{}{}
	if a := c.wantID("1"); a.Error != nil {
		t.Errorf("%+v", a.Error)
	}
	if err := <-c.end; err != nil {
		t.Error(err)
	}
}

func TestPanicCostsOneCall(t *testing.T) {
	db, g := gated(t)
	c := serve(t.Context(), t, db, rpc.Options{})
	g.panics.Store(true)
	c.send(call(1, "create_session", `{}`))
	a := c.wantID("1")
	if a.Error == nil || a.Error.Code != -32603 || a.Error.Data["kind"] != "internal" || strings.Contains(a.Error.Message, "clock") {
		t.Errorf("got %s, %+v", a.Result, a.Error)
	}
	g.panics.Store(false)
	c.send(call(2, "session_count", `{}`))
	if a := c.wantID("2"); string(a.Result) != "2" {
		t.Errorf("got %s", a.Result)
	}
	c.close()
}
