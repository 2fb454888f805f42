package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Deleting a session leaves its children without a parent. A delegate would
// then look like a conversation of its own, so the store remembers how each
// orphan came from its parent, in a table that is made with the first orphan.
// It also remembers what a fork came from, while the parent is there: see
// [DB.Fork].

var orphansTable = addedTable{"sessiondb_orphans", `CREATE TABLE IF NOT EXISTS sessiondb_orphans (
    session_id TEXT PRIMARY KEY,
    parent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    orphaned_at DOUBLE PRECISION NOT NULL
)`}

const (
	rememberOrphanSQL = `INSERT INTO sessiondb_orphans (session_id, parent_id, kind, orphaned_at) VALUES (?, ?, ?, ?)
 ON CONFLICT (session_id) DO UPDATE SET parent_id = excluded.parent_id,
 kind = CASE WHEN sessiondb_orphans.kind IN ('fork', 'resumed') AND sessiondb_orphans.parent_id = excluded.parent_id THEN sessiondb_orphans.kind ELSE excluded.kind END, orphaned_at = excluded.orphaned_at`

	// rememberedDelegateSQL holds for a session c that was a delegate of a
	// deleted one. An id that was used again after that is another session.
	rememberedDelegateSQL = `EXISTS (SELECT 1 FROM sessiondb_orphans o
  WHERE o.session_id = c.id AND o.kind = 'delegate' AND o.orphaned_at >= c.started_at)`
)

// rememberedSQL joins each session c with what is remembered of it. An id that was
// used again after that is another session.
const rememberedSQL = ` FROM sessiondb_orphans o JOIN sessions c ON c.id = o.session_id WHERE o.orphaned_at >= c.started_at`

// Kinds that only the table has, of sessions that are branches and whose rows don't
// tell a parent: a fork begins with copies of what its parent said; what was resumed
// goes on behind that.
const (
	forked  Kind = "fork"
	resumed Kind = "resumed"
)

// branchedSQL holds for what the table tells of a branch whose parent is there.
const branchedSQL = `o.kind IN ('fork', 'resumed')`

// orphan is a session whose parent is deleted, or not told by its row.
type orphan struct {
	id     string
	parent string
	kind   Kind
	heir   string // takes the place of the parent; mostly nobody does
}

// rememberedOf returns what is remembered of a session: how it came from its
// parent, and that one's id. Nothing is an empty kind.
func rememberedOf(ctx context.Context, q engine.Queryer, id string) (parent string, kind Kind, err error) {
	some, err := orphansTable.exists(ctx, q)
	if err != nil || !some {
		return "", "", err
	}
	err = q.QueryRow(ctx, `SELECT o.parent_id, o.kind`+rememberedSQL+` AND c.id = ?`, id).Scan(&parent, &kind)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", nil
	}
	return parent, kind, err
}

// originOf is parentOf that knows the delegates of deleted sessions, and forks.
func originOf(ctx context.Context, q engine.Queryer, id string) (parent string, kind Kind, err error) {
	parent, kind, err = parentOf(ctx, q, id)
	if err != nil || kind != Root {
		return parent, kind, err
	}
	from, remembered, err := rememberedOf(ctx, q, id)
	switch {
	case err != nil:
	case remembered == Delegate:
		kind = Delegate
	case (remembered == forked || remembered == resumed) && from != id:
		var there bool
		if there, err = sessionExists(ctx, q, from); there {
			return from, Branch, err
		}
	}
	return parent, kind, err
}

// branchedFrom returns what those of sessions came from that are branches which only
// the table knows.
func branchedFrom(ctx context.Context, q engine.Queryer, ids ...string) (map[string]orphan, error) {
	if some, err := orphansTable.exists(ctx, q); err != nil || !some {
		return nil, err
	}
	from := map[string]orphan{}
	err := eachIn(ctx, q, func(r engine.Rows) error {
		var o orphan
		err := r.Scan(&o.id, &o.parent, &o.kind)
		from[o.id] = o
		return err
	}, `SELECT c.id, o.parent_id, o.kind`+rememberedSQL+` AND `+branchedSQL+` AND c.id IN`, ids)
	return from, err
}

// forksOf returns the branches of sessions whose rows tell no parent, by parent, and
// by start.
func forksOf(ctx context.Context, q engine.Queryer, parents []string) (map[string][]string, error) {
	out := map[string][]string{}
	some, err := orphansTable.exists(ctx, q)
	if err != nil || !some {
		return out, err
	}
	var forks []Session
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var s Session
		err := r.Scan(&s.ID, &s.ParentID, timeColumn{"started_at", &s.StartedAt, new(odd)})
		forks = append(forks, s)
		return err
	}, `SELECT c.id, o.parent_id, c.started_at FROM sessiondb_orphans o JOIN sessions c ON c.id = o.session_id
 WHERE `+branchedSQL+` AND c.parent_session_id IS NULL AND o.orphaned_at >= c.started_at AND o.parent_id IN`, parents)
	slices.SortFunc(forks, func(a, b Session) int { return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID)) })
	for _, f := range forks {
		out[*f.ParentID] = append(out[*f.ParentID], f.ID)
	}
	return out, err
}

// rememberOrphans notes how sessions came from their parents.
func rememberOrphans(ctx context.Context, tx engine.Execer, orphans []orphan, now float64) error {
	if len(orphans) == 0 {
		return nil
	}
	if err := orphansTable.make(ctx, tx); err != nil {
		return err
	}
	for _, o := range orphans {
		if _, err := tx.Exec(ctx, rememberOrphanSQL, o.id, o.parent, string(o.kind), now); err != nil {
			return err
		}
	}
	return nil
}
