package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
)

// SchemaVersion is the schema this package writes: the columns are those of a
// store in a file of that version.
const SchemaVersion = 11

// layout is the version of what this package adds. It rises with schema.sql.
const (
	layout    = 6
	layoutKey = "sessiondb_layout"
)

// schemaSQL makes whatever is missing.
//
//go:embed schema.sql
var schemaSQL string

// essential are tables, and columns that tell them from others of that name.
var essential = map[string][]string{
	"sessions":       {"id", "source", "parent_session_id", "started_at", "created"},
	"messages":       {"id", "session_id", "role", "content", "tool_calls", "timestamp"},
	"state_meta":     {"key", "value"},
	"schema_version": {"version"},
}

// found is what a schema holds.
type found struct {
	tables  map[string][]string // columns of those that are essential
	version int
	layout  int
}

// prepare looks at the schema and makes what is missing.
func (s *store) prepare(ctx context.Context, readOnly bool) error {
	c, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if err := checkServer(ctx, c.Conn()); err != nil {
		return err
	}
	f, err := s.look(ctx, c.Conn())
	if err != nil {
		return err
	}
	switch {
	case readOnly && len(f.tables) == 0:
		return fmt.Errorf("schema %s: %w", s.schema, fs.ErrNotExist)
	case readOnly:
		s.refusal = sessiondb.ErrReadOnly
	case f.version > SchemaVersion:
		s.refusal = &sessiondb.SchemaError{Have: f.version, Want: SchemaVersion}
	case f.version < SchemaVersion || f.layout < layout:
		if err := s.migrate(ctx, c.Conn()); err != nil {
			return err
		}
		f.version, f.layout = SchemaVersion, layout
	}
	s.version, s.knowsParts = f.version, f.layout >= 5
	return nil
}

// oldestServer is what schema.sql and the queries need.
const oldestServer = 150000

func checkServer(ctx context.Context, c *pgx.Conn) error {
	var version int
	var encoding string
	err := c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`, pgx.QueryExecModeExec).
		Scan(&version, &encoding)
	switch {
	case err != nil:
		return err
	case version < oldestServer:
		return fmt.Errorf("%w: PostgreSQL %d is older than 15", sessiondb.ErrInvalid, version/10000)
	case encoding != "UTF8":
		return fmt.Errorf("%w: the database has the encoding %s, a store needs UTF8", sessiondb.ErrInvalid, encoding)
	}
	return nil
}

// look reads what there is.
func (s *store) look(ctx context.Context, c *pgx.Conn) (*found, error) {
	f := &found{tables: map[string][]string{}}
	rows, err := c.Query(ctx, `SELECT c.relname::text, a.attname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
 JOIN pg_attribute a ON a.attrelid = c.oid WHERE n.nspname = $1 AND c.relname IN ('sessions', 'messages', 'state_meta', 'schema_version')
 AND a.attnum > 0 AND NOT a.attisdropped`, pgx.QueryExecModeExec, s.schema)
	if err != nil {
		return nil, err
	}
	var table, column string
	_, err = pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		f.tables[table] = append(f.tables[table], column)
		return nil
	})
	if err != nil || len(f.tables) == 0 {
		return f, err
	}
	if err := f.ours(); err != nil {
		return nil, err
	}
	var stored string
	err = c.QueryRow(ctx, `SELECT COALESCE(MAX(version), 0), COALESCE((SELECT value FROM state_meta WHERE key = $1), '') FROM schema_version`,
		pgx.QueryExecModeExec, layoutKey).Scan(&f.version, &stored)
	f.layout = layoutOf(stored)
	if sqlState(err) == undefinedTable { // it is there, as we saw
		err = fmt.Errorf("%w: this user has no rights in the schema %s", fs.ErrPermission, s.schema)
	}
	return f, err
}

// layoutOf reads a layout as it is stored. What is no number is older than any.
func layoutOf(stored string) int {
	n, _ := strconv.Atoi(stored)
	return n
}

// ours refuses the tables of another program.
func (f *found) ours() error {
	for table, columns := range essential {
		have := " " + strings.Join(f.tables[table], " ") + " "
		for _, c := range columns {
			if !strings.Contains(have, " "+c+" ") {
				return fmt.Errorf("%w: table %s has no column %s", sessiondb.ErrNotStore, table, c)
			}
		}
	}
	return nil
}

// migrate makes what is missing, in one transaction. Programs that open the
// store at the same moment do so one after the other.
func (s *store) migrate(ctx context.Context, c *pgx.Conn) error {
	return s.retry(ctx, func() error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+s.lockKey("migrate")+`)`); err != nil {
				return err
			}
			if err := s.makeSchema(ctx, tx); err != nil {
				return err
			}
			for _, sql := range []string{
				`SET LOCAL client_min_messages = warning`,
				schemaSQL,
				fmt.Sprintf(`INSERT INTO schema_version SELECT %d WHERE NOT EXISTS (SELECT 1 FROM schema_version WHERE version >= %[1]d)`, SchemaVersion),
				`INSERT INTO state_meta VALUES ('` + layoutKey + `', '` + strconv.Itoa(layout) + `'), ('sessiondb_orphans', '1'), ('sessiondb_model_usage', '1'), ('sessiondb_trash', '1'), ('sessiondb_tags', '1'), ('sessiondb_appends', '1')
 ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
			} {
				if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// makeSchema makes the schema if it is missing. CREATE SCHEMA IF NOT EXISTS would
// ask for the right to make one even where it is there.
func (s *store) makeSchema(ctx context.Context, tx pgx.Tx) error {
	name := pgx.Identifier{s.schema}.Sanitize()
	var user string
	var there, mayUse, mayMake bool
	err := tx.QueryRow(ctx, `SELECT current_user::text, n.oid IS NOT NULL, COALESCE(has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'), false),
 has_database_privilege(current_database(), 'CREATE') FROM (SELECT $1::text AS name) AS wanted LEFT JOIN pg_namespace n ON n.nspname = wanted.name`,
		pgx.QueryExecModeExec, s.schema).Scan(&user, &there, &mayUse, &mayMake)
	switch {
	case err != nil:
		return err
	case there && !mayUse:
		return fmt.Errorf("%w: the user %s may make no tables in the schema %s", fs.ErrPermission, user, s.schema)
	case there:
		return nil
	case !mayMake:
		return fmt.Errorf("%w: there is no schema %s, and the user %s may make none; who administers the database can: CREATE SCHEMA %s AUTHORIZATION %s",
			fs.ErrPermission, s.schema, user, name, pgx.Identifier{user}.Sanitize())
	}
	_, err = tx.Exec(ctx, `SET LOCAL client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS `+name, pgx.QueryExecModeSimpleProtocol)
	return err
}
