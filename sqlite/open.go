// Package sqlite keeps a session store in one SQLite file. It holds all that
// knows SQLite: connections, the write lock, the schema and its migrations,
// full-text matching, maintenance.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"log/slog"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// SchemaVersion is the schema this package writes.
const SchemaVersion = 11

// Options shape Open. The zero value works.
type Options struct {
	// ReadOnly opens for reading: the file is not created, migrated or changed.
	ReadOnly bool
	// Logger receives warnings that no caller can be told; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Progress is called during long work (a migration) with what is being
	// done and how far it is; nil is fine.
	Progress func(what string, done, total int64)
}

// Open opens the store at path, and unless o.ReadOnly creates or migrates it
// as needed.
func Open(ctx context.Context, path string, o Options) (*sessiondb.DB, error) {
	e, err := openStore(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return sessiondb.New(e, sessiondb.Config{Now: o.Now, Logger: o.Logger}), nil
}

//go:embed schema.sql
var schemaSQL string

type store struct{ db *sql.DB }

func openStore(ctx context.Context, path string, o Options) (*store, error) {
	q := url.Values{"_pragma": {"busy_timeout(1000)", "foreign_keys(1)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	if o.ReadOnly {
		q.Set("mode", "ro")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if _, err := db.ExecContext(ctx, schemaSQL); err != nil {
			return nil, err
		}
	}
	return &store{db}, nil
}

type tx struct{ *sql.Tx }

func (t tx) Query(ctx context.Context, q string, args ...any) (engine.Rows, error) {
	return t.QueryContext(ctx, q, args...)
}
func (t tx) QueryRow(ctx context.Context, q string, args ...any) engine.Row {
	return t.QueryRowContext(ctx, q, args...)
}
func (t tx) Exec(ctx context.Context, q string, args ...any) (int64, error) {
	r, err := t.ExecContext(ctx, q, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (s *store) Read(ctx context.Context, fn func(engine.Queryer) error) error {
	return s.run(ctx, func(t tx) error { return fn(t) })
}
func (s *store) Write(ctx context.Context, fn func(engine.Execer) error) error {
	return s.run(ctx, func(t tx) error { return fn(t) })
}
func (s *store) run(ctx context.Context, fn func(tx) error) error {
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }()
	if err := fn(tx{t}); err != nil {
		return err
	}
	return t.Commit()
}
func (s *store) Compact(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "VACUUM")
	return err
}
func (s *store) Check(context.Context) ([]engine.Finding, error) { return nil, nil }
func (s *store) Info() engine.Info {
	return engine.Info{SchemaVersion: SchemaVersion, ActivityIndex: true}
}
func (s *store) Close() error { return s.db.Close() }
