package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// tables are those of a store, for maintenance.
var tables = []string{"sessions", "messages", "state_meta", "sessiondb_terms", "sessiondb_unindexed", "sessiondb_odd", "sessiondb_orphans", "sessiondb_model_usage", "sessiondb_appends",
	"sessiondb_trash", "sessiondb_trash_sessions", "sessiondb_trash_messages", "sessiondb_trash_orphans", "sessiondb_trash_model_usage", "sessiondb_tags", "sessiondb_trash_tags"}

// vacuumWaits is how long a table may be taken: by autovacuum, which the server stops
// for others, but only after its deadlock_timeout, a second unless it is set.
const vacuumWaits = 30 * time.Second

// Compact implements [engine.Maintenance]. The server cleans up by itself all the
// time; this does it now, and lets the planner know what there is. It blocks
// nobody and passes over pages without news, so that it always pays. So it is with what
// waits for the index. The layout of a file's indexes means nothing here.
func (s *store) Compact(ctx context.Context, o engine.CompactOptions) (out engine.Compacted, err error) {
	if s.refusal != nil {
		return out, s.refusal
	}
	c, err := s.acquire(ctx)
	if err != nil {
		return out, mapError(err)
	}
	defer c.Release()
	if err := s.indexAll(ctx); err != nil {
		return out, mapError(err)
	}
	if _, err := c.Exec(ctx, fmt.Sprintf(`SET lock_timeout = %d`, vacuumWaits.Milliseconds())); err != nil {
		return out, mapError(err)
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(ctx), `RESET lock_timeout`) }()
	warned := s.warnings.of(c.Conn().PgConn())
	defer s.warnings.forget(c.Conn().PgConn())
	for i, table := range tables {
		if o.Progress != nil {
			o.Progress("vacuum "+table, int64(i), int64(len(tables)))
		}
		_, err := c.Exec(ctx, `VACUUM (ANALYZE) `+table)
		if isBusy(err) {
			err = named(sessiondb.ErrBusy, err)
		}
		if err != nil {
			return out, mapError(err)
		}
		if len(*warned) > 0 { // it passed over the table
			return out, fmt.Errorf("%w: %s", sessiondb.ErrReadOnly, (*warned)[0])
		}
	}
	out.Vacuumed = true
	return out, nil
}

// Size implements [engine.Sized].
func (s *store) Size(ctx context.Context) (n int64, err error) {
	err = s.Read(ctx, func(q engine.Queryer) error {
		return q.QueryRow(ctx, `SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ? AND c.relkind = 'r'`, s.schema).Scan(&n)
	})
	return n, err
}

// Space implements [engine.Maintenance]. A table counts with what the server
// stores beside it, and without its indexes; the log is the server's.
func (s *store) Space(ctx context.Context) (out engine.Space, err error) {
	err = s.Read(ctx, func(q engine.Queryer) error {
		out = engine.Space{}
		err := q.QueryRow(ctx, `SELECT COALESCE(SUM(octet_length(content)), 0), COALESCE(SUM(COALESCE(octet_length(tool_name), 0) + COALESCE(octet_length(tool_calls), 0)), 0),
 COALESCE(SUM(COALESCE(octet_length(reasoning), 0) + COALESCE(octet_length(reasoning_content), 0) + COALESCE(octet_length(reasoning_details), 0)
 + COALESCE(octet_length(codex_reasoning_items), 0) + COALESCE(octet_length(codex_message_items), 0)), 0)
 FROM messages`).Scan(&out.Text.Content, &out.Text.Tools, &out.Text.Reasoning)
		if err != nil {
			return err
		}
		rows, err := q.Query(ctx, `SELECT c.relname, c.relkind::text, pg_table_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ? AND c.relkind IN ('r', 'i') AND pg_table_size(c.oid) > 0 ORDER BY 3 DESC, 1`, s.schema)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var p engine.SpacePart
			var kind string
			if err := rows.Scan(&p.Name, &kind, &p.Bytes); err != nil {
				return err
			}
			p.Kind = partKind(p.Name, kind)
			out.Parts = append(out.Parts, p)
			out.File += p.Bytes
		}
		return rows.Err()
	})
	return out, err
}

// partKind tells what a table or an index is.
func partKind(name, kind string) string {
	switch {
	case name == "sessiondb_terms" || name == "sessiondb_terms_words" || name == "sessiondb_terms_grams":
		return engine.PartPostings
	case kind == "i":
		return engine.PartIndex
	case name == "sessions" || name == "messages" || name == "state_meta" || name == "schema_version":
		return engine.PartTable
	case len(name) > 10 && name[:10] == "sessiondb_":
		return engine.PartOwn
	}
	return engine.PartOther
}

// Verify implements [engine.Maintenance]. It reads every row.
func (s *store) Verify(ctx context.Context) (out engine.Backup, err error) {
	err = s.Read(ctx, func(q engine.Queryer) error {
		return q.QueryRow(ctx, verifySQL).Scan(&out.Sessions, &out.Messages, &out.Bytes)
	})
	out.SchemaVersion = s.version
	return out, err
}

// verifySQL makes the server read every text, which it checks as it unpacks it.
const verifySQL = `SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM messages),
 (SELECT COALESCE(SUM(octet_length(s::text)), 0) FROM sessions s) + (SELECT COALESCE(SUM(octet_length(m::text)), 0) FROM messages m)`
