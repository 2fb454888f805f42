package postgres

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Columns implements [engine.Queryer].
func (t *tx) Columns(ctx context.Context, table string) (out []engine.Column, err error) {
	rows, err := t.Query(ctx, `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
 WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity <> 'a' AND a.attgenerated = ''
 ORDER BY a.attnum`, table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c engine.Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
