package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Read implements [engine.Engine]. Where another program tries whether a log
// works, and turns it off again, it begins anew, as long as fn saw nothing.
func (s *store) Read(ctx context.Context, fn func(engine.Queryer) error) error {
	saw := false
	err := s.retryIf(ctx, func(err error) bool { return !saw && noSharedMemory(err) }, func() (err error) {
		saw, err = s.readOnce(ctx, fn)
		return err
	})
	if extendedCode(err) != 0 && s.ident != nil {
		err = firstError(s.ident.checkAll(), err) // the cause of whatever SQLite says
	}
	return s.locate(err)
}

// readOnce is one try, and says whether fn saw a result. A connection of the pool
// would go on answering from a file that nobody can find any more.
func (s *store) readOnce(ctx context.Context, fn func(engine.Queryer) error) (saw bool, err error) {
	c, err := s.readers.take(ctx)
	if err != nil {
		return false, err
	}
	if err := s.ident.checkLately(); err != nil {
		s.readers.put(c, true)
		return false, err
	}
	t, err := s.beginRead(c)
	if err != nil {
		return false, err
	}
	defer func() { s.endRead(t, err) }()
	err = fn(t)
	return c.saw, err
}

// beginRead begins a transaction on a connection of the pool, which gets it back
// if that fails.
func (s *store) beginRead(c *conn) (*readTx, error) {
	if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
		s.readers.put(c, false)
		return nil, err
	}
	c.saw = false
	return &readTx{c: c, views: s.views}, nil
}

// endRead ends a transaction that met err, and gives the connection back.
func (s *store) endRead(t *readTx, err error) {
	t.c.closeRows()
	_, e := t.c.exec(context.Background(), "ROLLBACK")
	// It is not used again after a salvage, whose tables go with the connection.
	s.readers.put(t.c, e == nil && !noSharedMemory(err) && t.salvage == nil)
}

// ReadPair implements [engine.Paired].
func (s *store) ReadPair(ctx context.Context, fn func(a, b engine.Queryer) error) error {
	return s.Read(ctx, func(a engine.Queryer) (err error) {
		t := s.second(ctx, a.(*readTx))
		if t == nil {
			return fn(a, nil)
		}
		defer func() { s.endRead(t, err) }()
		return fn(a, t)
	})
}

// second begins a transaction that sees what one sees that read nothing yet, or
// returns nil. The two see the same if nothing was committed from before the
// first began to read until after the second did.
func (s *store) second(ctx context.Context, first *readTx) *readTx {
	c, err := s.readers.tryTake(ctx)
	if c == nil || err != nil {
		return nil
	}
	version := func(c *conn) (n int64, err error) {
		err = c.queryRow(context.WithoutCancel(ctx), []any{&n}, "PRAGMA data_version")
		return n, err
	}
	before, err := version(c)
	err = firstError(err, c.keepLess(), first.c.keepLess())
	if err != nil {
		s.readers.put(c, false)
		return nil
	}
	t, err := s.beginRead(c)
	if err != nil {
		return nil
	}
	_, err = version(first.c)
	after, e := version(c)
	first.c.saw = false
	if err = firstError(err, e); err != nil || before != after {
		s.endRead(t, err)
		return nil
	}
	return t
}

// readTx reads in one snapshot.
type readTx struct {
	c       *conn
	views   []string  // of the connection
	salvage *readPast // once a query met damage
}

func (t *readTx) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	r, err := t.c.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (t *readTx) QueryRow(ctx context.Context, query string, args ...any) engine.Row {
	r, err := t.c.query(ctx, query, args...)
	return row{r, err}
}

func (t *readTx) QueryColumns(ctx context.Context, columns, rest string, args ...any) (engine.Rows, error) {
	r, err := t.c.queryWide(ctx, columns, rest, args...)
	if err != nil {
		return nil, err
	}
	return r, nil
}
