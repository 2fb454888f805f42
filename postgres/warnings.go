package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// warnings are what the server says beside the results, by connection, for those
// who want to know: VACUUM passes over what it may not touch, and says so there.
type warnings struct {
	mu  sync.Mutex
	all map[*pgconn.PgConn]*[]string
}

// of begins to listen. What it returns may be read between the statements.
func (w *warnings) of(c *pgconn.PgConn) *[]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[*pgconn.PgConn]*[]string{}
	}
	w.all[c] = new([]string)
	return w.all[c]
}

func (w *warnings) forget(c *pgconn.PgConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, c)
}

// hear is told of everything.
func (w *warnings) hear(c *pgconn.PgConn, n *pgconn.Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if list := w.all[c]; list != nil && n.SeverityUnlocalized == "WARNING" {
		*list = append(*list, n.Message)
	}
}
