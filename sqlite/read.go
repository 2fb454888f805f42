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

// readOnce is one try, and says whether fn saw a result.
func (s *store) readOnce(ctx context.Context, fn func(engine.Queryer) error) (saw bool, err error) {
	c, err := s.readers.take(ctx)
	if err != nil {
		return false, err
	}
	sound := false
	defer func() { s.readers.put(c, sound) }()
	if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
		return false, err
	}
	c.saw = false
	defer func() {
		c.closeRows()
		_, e := c.exec(context.Background(), "ROLLBACK")
		// Also false after a salvage, whose tables go with the connection.
		sound = e == nil && !noSharedMemory(err)
	}()
	err = fn(&readTx{c: c, views: s.views})
	return c.saw, err
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
