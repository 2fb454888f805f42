package sqlite

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Columns implements [engine.Queryer].
func (t *readTx) Columns(ctx context.Context, table string) ([]engine.Column, error) {
	return writable(ctx, t, table)
}

// Columns implements [engine.Queryer].
func (t *writeTx) Columns(ctx context.Context, table string) ([]engine.Column, error) {
	return writable(ctx, t, table)
}

// writable lists the columns of a table but those that are computed. A column
// that is declared without a type takes every value as it is.
func writable(ctx context.Context, q engine.Queryer, table string) (out []engine.Column, err error) {
	rows, err := q.Query(ctx, "SELECT name FROM pragma_table_info(?, 'main')", table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c engine.Column
		if err := rows.Scan(&c.Name); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
