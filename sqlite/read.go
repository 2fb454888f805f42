package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Read implements [engine.Engine].
func (s *store) Read(ctx context.Context, fn func(engine.Queryer) error) (err error) {
	defer func() { err = s.locate(err) }()
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() { s.readers.put(c, sound) }()
	if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
		return err
	}
	defer func() {
		c.closeRows()
		_, e := c.exec(context.Background(), "ROLLBACK")
		sound = e == nil // also false after a salvage, whose tables go with the connection
	}()
	return fn(&readTx{c: c, views: s.views})
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
