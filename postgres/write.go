package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Write implements [engine.Engine]. It has the store for itself: what the rules
// read in a write stays true until its end.
func (s *store) Write(ctx context.Context, fn func(engine.Execer) error) error {
	return s.WriteAbout(ctx, nil, fn)
}

// WriteAbout implements [engine.Concurrent].
func (s *store) WriteAbout(ctx context.Context, names []string, fn func(engine.Execer) error) error {
	if s.refusal != nil {
		return s.refusal
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	names = slices.Compact(slices.Sorted(slices.Values(names))) // two that want the same ones do not wait for each other
	said := int64(0)
	err := s.retry(ctx, func() (err error) {
		said, err = s.writeOnce(ctx, names, fn)
		return err
	})
	if said > 0 && err == nil {
		s.wrote(ctx, said)
	}
	return mapError(err)
}

// writeOnce is one try. It returns how many messages were written.
func (s *store) writeOnce(ctx context.Context, names []string, fn func(engine.Execer) error) (said int64, err error) {
	leave, err := s.turns.enter(ctx, names)
	if err != nil {
		return 0, err
	}
	defer leave()
	c, err := s.acquire(ctx)
	if err != nil {
		return 0, unreached(err)
	}
	defer c.Release() // one that is still in a transaction, or broken, is thrown away
	if _, err := c.Exec(ctx, `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT `+s.locks(names), pgx.QueryExecModeSimpleProtocol); err != nil {
		s.rollback(c.Conn())
		return 0, lostBefore(ctx, c.Conn(), err)
	}
	t := &tx{store: s, conn: c.Conn(), writes: true}
	done := false
	defer func() {
		if !done {
			t.end()
			s.rollback(c.Conn())
		}
	}()
	if err := fn(t); err != nil {
		return 0, lostBefore(ctx, c.Conn(), err)
	}
	t.end()
	done = true
	if err := t.commit(ctx); err != nil {
		return 0, err
	}
	s.noteWritten(ctx, c)
	return t.said, nil
}

func (s *store) rollback(c *pgx.Conn) {
	if !c.IsClosed() {
		_, _ = c.Exec(context.Background(), `ROLLBACK`)
	}
}

// errUndone says that a statement failed whose error went unnoticed.
var errUndone = errors.New("the server undid the transaction: a statement in it failed")

// commit makes the transaction durable. Once it was asked for, the caller waits
// for the answer: without one, nobody could tell what was written.
func (t *tx) commit(ctx context.Context) error {
	tag, err := t.conn.Exec(context.WithoutCancel(ctx), `COMMIT`, pgx.QueryExecModeSimpleProtocol)
	switch {
	case err != nil && (t.conn.IsClosed() || endsConnection(err)):
		return fmt.Errorf("%w: the connection was lost in the commit: %w: %w", sessiondb.ErrUncertain, sessiondb.ErrConnection, err)
	case err != nil:
		return err
	case tag.String() == "ROLLBACK":
		return errUndone
	}
	for v, id := range t.made {
		t.store.odd.add(id, v)
	}
	return nil
}

// says reports whether a statement may change what messages say.
func (t *tx) says(query string) bool {
	return t.writes && (strings.Contains(query, "INTO messages") || strings.Contains(query, "UPDATE messages"))
}

// Read implements [engine.Engine]. A connection that turns out to be lost before fn
// is called is made anew.
func (s *store) Read(ctx context.Context, fn func(engine.Queryer) error) error {
	var c *pgxpool.Conn
	err := s.retry(ctx, func() (err error) {
		c, err = s.beginRead(ctx)
		return err
	})
	if err != nil {
		return mapError(err)
	}
	defer c.Release()
	t := &tx{store: s, conn: c.Conn()}
	defer func() {
		t.end()
		s.rollback(c.Conn())
	}()
	err = lostBefore(ctx, c.Conn(), fn(t))
	if isBusy(err) { // a replica that had to go on
		err = named(sessiondb.ErrBusy, err)
	}
	return mapError(err)
}

// beginRead begins a transaction that sees one state of the store.
func (s *store) beginRead(ctx context.Context) (*pgxpool.Conn, error) {
	if s.replica != nil && !s.closed.Load() {
		if c := s.replica.current(ctx); c != nil && beginOn(ctx, c) == nil {
			return c, nil
		}
	}
	c, err := s.acquire(ctx)
	if err != nil {
		return nil, unreached(err)
	}
	if err := beginOn(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// beginOn begins it on a connection, which it lets go where that fails.
func beginOn(ctx context.Context, c *pgxpool.Conn) error {
	// Searches for rare and for common words need different plans.
	_, err := c.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL plan_cache_mode = force_custom_plan`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		err = lostBefore(ctx, c.Conn(), err)
		c.Release()
	}
	return err
}
