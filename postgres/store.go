package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

const (
	// defaultSchema is where a store is unless search_path says otherwise.
	defaultSchema = "sessiondb"

	// leastConns is how many connections a store may have at least.
	leastConns = 8

	// readConns is how many of them no write takes, nor the index.
	readConns = 2
)

// store is one open schema. It implements [engine.Engine].
type store struct {
	pool    *pgxpool.Pool
	schema  string
	dsn     string // with the password, for pg_dump
	place   string // without it
	version int

	// knowsParts says that an index tells which messages have several parts.
	knowsParts bool

	refusal error // what Write returns, nil when it may write
	odd     oddities
	closed  atomic.Bool
	replica *replica // nil without one
	indexer *indexer // nil where nothing may be written

	warnings warnings
	turns    *turns
	pause    func(context.Context, time.Duration) error
}

// openStore opens a store as Open promises.
func openStore(ctx context.Context, dsn string, o Options) (_ *store, err error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("open: %w: %w", sessiondb.ErrInvalid, err)
	}
	s := &store{schema: schemaOf(config), dsn: dsn, pause: retry.Pause}
	s.place = placeOf(config, dsn, s.schema)
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", s.place, mapError(err))
		}
	}()
	s.configure(config, o)
	s.turns = newTurns(int(config.MaxConns) - readConns - 1)
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	err = s.prepare(ctx, o.ReadOnly)
	if err == nil {
		err = s.openReplica(ctx, o)
	}
	if err != nil {
		s.pool.Close()
		return nil, err
	}
	if s.refusal == nil {
		s.indexer = newIndexer(s.indexWaiting, o.Logger)
	}
	return s, nil
}

// startupOption finds settings among the options for the server process.
var startupOption = text.Regexp(`(?:^|\s)(?:-c\s*|--)([\w-]+)=(\S+)`)

// setting is what a connection string sets for the session, by a parameter of that
// name or, where there is none, among the options.
func setting(config *pgxpool.Config, name string) string {
	p := config.ConnConfig.RuntimeParams
	value := p[name]
	if value != "" {
		return value
	}
	for _, m := range startupOption().FindAllStringSubmatch(p["options"], -1) {
		if strings.ReplaceAll(m[1], "-", "_") == name {
			value = m[2] // the last one counts
		}
	}
	return value
}

// schemaOf is the first schema of the search path.
func schemaOf(config *pgxpool.Config) string {
	first, _, _ := strings.Cut(setting(config, "search_path"), ",")
	if first = strings.Trim(strings.TrimSpace(first), `"`); first != "" {
		return first
	}
	return defaultSchema
}

func (s *store) configure(config *pgxpool.Config, o Options) {
	config.ConnConfig.OnNotice = s.warnings.hear
	p := config.ConnConfig.RuntimeParams
	p["search_path"] = pgx.Identifier{s.schema}.Sanitize()
	if p["lock_timeout"] == "" {
		p["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
	}
	p["jit"] = "off" // compiling costs more than any query here
	if p["random_page_cost"] == "" {
		p["random_page_cost"] = "1.1" // the server's own guess is that of a spinning disk
	}
	if p["application_name"] == "" {
		p["application_name"] = "sessiondb"
	}
	if o.ReadOnly {
		p["default_transaction_read_only"] = "on"
	}
	config.MaxConns = max(config.MaxConns, leastConns)
}

// Info implements [engine.Engine].
func (s *store) Info() engine.Info {
	return engine.Info{
		ReadOnly:      s.refusal != nil,
		Current:       s.version == SchemaVersion,
		Place:         s.place,
		SchemaVersion: s.version,
		ActivityIndex: true,
		CreationOrder: "created",
	}
}

// Close ends the use of the store: calls under way end first, later ones are
// refused.
func (s *store) Close() error {
	if s.closed.CompareAndSwap(false, true) {
		s.indexer.close()
		s.pool.Close()
		if s.replica != nil {
			s.replica.pool.Close()
		}
	}
	return nil
}

// acquire takes a connection.
func (s *store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.closed.Load() {
		return nil, sessiondb.ErrClosed
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil && s.closed.Load() {
		return nil, sessiondb.ErrClosed
	}
	return c, err
}
