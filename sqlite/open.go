// Package sqlite keeps a session store in one SQLite file. It holds all that
// knows SQLite: connections, the write lock, the schema and its migrations,
// full-text matching, maintenance.
package sqlite

import (
	"context"
	"log/slog"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// Options shape Open. The zero value works.
type Options struct {
	// ReadOnly opens for reading: the file is not created, migrated or changed.
	ReadOnly bool
	// Logger receives warnings that no caller can be told; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Damaged hears of reads that went past damaged pages, with a
	// [*sessiondb.DamageError]. They then return what could be read, and no error.
	// It may be called by several goroutines; nil makes it the error of the read.
	Damaged func(error)
	// Progress is called during long work (a migration, a backup) with what is
	// being done and how far it is; nil is fine.
	Progress func(what string, done, total int64)
}

// Open opens the store at path. Unless o.ReadOnly it creates the file, and its
// directory, when there is none, and brings older schemas to [SchemaVersion].
//
// A file that is no session store is [sessiondb.ErrNotStore] and is left as it
// is. A store of a newer schema, or one that may not be written, opens for
// reading: Info tells, and a write fails with [sessiondb.ErrSchemaNewer] or
// [sessiondb.ErrReadOnly].
func Open(ctx context.Context, path string, o Options) (*sessiondb.DB, error) {
	s, err := openStore(ctx, path, o, settings{})
	if err != nil {
		return nil, err
	}
	return sessiondb.New(s, sessiondb.Config{Now: o.Now, Logger: o.Logger, Damaged: o.Damaged}), nil
}
