package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// addedTable is a table of our own that is made when it is first needed. A key
// of its name in state_meta tells that it exists, since SQL that every engine
// shares can't ask.
type addedTable struct{ name, create string }

// exists reports whether the table was made.
func (a addedTable) exists(ctx context.Context, q engine.Queryer) (bool, error) {
	var n int
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM state_meta WHERE key = ?`, a.name).Scan(&n)
	if err != nil || n == 0 {
		return false, err
	}
	// A key that was copied without its table tells nothing.
	err = q.QueryRow(ctx, `SELECT COUNT(*) FROM `+a.name+` WHERE session_id IS NULL`).Scan(&n)
	return err == nil, ctx.Err()
}

func (a addedTable) make(ctx context.Context, tx engine.Execer) error {
	if _, err := tx.Exec(ctx, a.create); err != nil {
		return err
	}
	return setMeta(ctx, tx, a.name, "1")
}

// forget drops what the table holds about sessions that are deleted.
func (a addedTable) forget(ctx context.Context, tx engine.Execer, ids []string) error {
	some, err := a.exists(ctx, tx)
	if err != nil || !some {
		return err
	}
	_, err = execIn(ctx, tx, `DELETE FROM `+a.name+` WHERE session_id IN`, ids)
	return err
}
