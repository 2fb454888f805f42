// Package postgres keeps a session store in a schema of a PostgreSQL database,
// for programs on several machines. It holds all that knows PostgreSQL:
// connections, locks, the schema, the search index, maintenance.
package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Options shape Open. The zero value works.
type Options struct {
	// ReadOnly opens for reading: nothing is created, migrated or changed.
	ReadOnly bool
	// ReadDSN names a replica, or several, that reads go to while they have what this
	// store has written; a read waits a tenth of a second for that, and then goes to
	// the primary, as it does where no replica answers. What others wrote may come
	// later than on the primary. Empty is none.
	ReadDSN string
	// Logger receives warnings that no caller can be told; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Open opens the store that a connection string names, as a URL
// (postgres://user@host/database) or as keywords (host=... dbname=...). The
// store is in the schema that the parameter search_path names, else in one named
// sessiondb. Unless o.ReadOnly, the schema and what is in it are made when they
// are missing. The server is PostgreSQL 15 or newer, and the database is of
// encoding UTF8.
//
// A schema that has other tables of those names is [sessiondb.ErrNotStore], and
// is left as it is. A store of a newer schema opens for reading: a write fails
// with [sessiondb.ErrSchemaNewer].
func Open(ctx context.Context, dsn string, o Options) (*sessiondb.DB, error) {
	s, err := openStore(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	return sessiondb.New(s, sessiondb.Config{Now: o.Now, Logger: o.Logger}), nil
}
