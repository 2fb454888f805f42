package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Deleting a session leaves its children without a parent. A delegate would
// then look like a conversation of its own, so the store remembers how each
// orphan came from its parent, in a table that is made with the first orphan.

var orphansTable = addedTable{"sessiondb_orphans", `CREATE TABLE IF NOT EXISTS sessiondb_orphans (
    session_id TEXT PRIMARY KEY,
    parent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    orphaned_at DOUBLE PRECISION NOT NULL
)`}

const (
	rememberOrphanSQL = `INSERT INTO sessiondb_orphans (session_id, parent_id, kind, orphaned_at) VALUES (?, ?, ?, ?)
 ON CONFLICT (session_id) DO UPDATE SET parent_id = excluded.parent_id, kind = excluded.kind, orphaned_at = excluded.orphaned_at`

	// rememberedDelegateSQL holds for a session c that was a delegate of a
	// deleted one. An id that was used again after that is another session.
	rememberedDelegateSQL = `EXISTS (SELECT 1 FROM sessiondb_orphans o
  WHERE o.session_id = c.id AND o.kind = 'delegate' AND o.orphaned_at >= c.started_at)`
)

// orphan is a session whose parent is deleted.
type orphan struct {
	id     string
	parent string
	kind   Kind
	heir   string // takes the place of the parent; mostly nobody does
}

// isRememberedDelegate reports whether a session was a delegate of a deleted
// one.
func isRememberedDelegate(ctx context.Context, q engine.Queryer, id string) (bool, error) {
	some, err := orphansTable.exists(ctx, q)
	if err != nil || !some {
		return false, err
	}
	var n int
	err = q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions c WHERE c.id = ? AND `+rememberedDelegateSQL, id).Scan(&n)
	return n > 0, err
}

// originOf is parentOf that knows the delegates of deleted sessions.
func originOf(ctx context.Context, q engine.Queryer, id string) (parent string, kind Kind, err error) {
	parent, kind, err = parentOf(ctx, q, id)
	if err != nil || kind != Root {
		return parent, kind, err
	}
	delegate, err := isRememberedDelegate(ctx, q, id)
	if delegate {
		kind = Delegate
	}
	return parent, kind, err
}

// rememberOrphans notes how sessions came from their parents. One whose parent
// has an heir is no orphan.
func rememberOrphans(ctx context.Context, tx engine.Execer, orphans []orphan, now float64) error {
	made := false
	for _, o := range orphans {
		if o.heir != "" {
			continue
		}
		if !made {
			if err := orphansTable.make(ctx, tx); err != nil {
				return err
			}
			made = true
		}
		if _, err := tx.Exec(ctx, rememberOrphanSQL, o.id, o.parent, string(o.kind), now); err != nil {
			return err
		}
	}
	return nil
}
