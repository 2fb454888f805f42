package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// orphansKey is set in state_meta once sessiondb_orphans exists.
const orphansKey = "sessiondb_orphans"

// hasOrphans reports whether deleted parents left delegates behind.
func hasOrphans(ctx context.Context, q engine.Queryer) (bool, error) {
	var n int
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM state_meta WHERE key = ?`, orphansKey).Scan(&n)
	return n > 0, err
}
