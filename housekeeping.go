package sessiondb

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

const (
	ghostAge      = 24 * time.Hour
	unfinishedAge = 7 * 24 * time.Hour
)

// PruneEmptyGhosts deletes sessions of source tui that have no title and no
// messages, ended, and started over 24 hours ago. One that is the parent of
// another session stays. Only of o is ignored.
func (db *DB) PruneEmptyGhosts(ctx context.Context, o DeleteOptions) (r DeleteReport, err error) {
	defer wrap(&err, "prune empty ghosts")
	o.Only = false
	ghosts, err := db.emptyGhosts(ctx)
	if err != nil {
		return r, err
	}
	s := db.newSweep(ctx, o, &r)
	defer s.close(ctx)
	err = s.run(ctx, ghosts, func(q engine.Queryer, ids []string) (choice, error) {
		still, err := db.stillGhosts(ctx, q, ids)
		return choice{ids: still, looked: len(ids)}, err
	})
	return r, err
}

const ghostSQL = `SELECT c.id FROM sessions c WHERE c.source = 'tui' AND c.title IS NULL AND c.ended_at IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = c.id)
 AND NOT EXISTS (SELECT 1 FROM sessions k WHERE k.parent_session_id = c.id AND k.id <> c.id)
 AND c.started_at < ?`

func (db *DB) emptyGhosts(ctx context.Context) (ids []string, err error) {
	err = db.read(ctx, func(q engine.Queryer) error {
		ids, err = queryStrings(ctx, q, ghostSQL+` ORDER BY c.started_at, c.id`, epoch(db.now().Add(-ghostAge)))
		return err
	})
	return ids, err
}

// stillGhosts returns those of ids that are empty ghosts now.
func (db *DB) stillGhosts(ctx context.Context, q engine.Queryer, ids []string) ([]string, error) {
	return queryStrings(ctx, q, ghostSQL+` AND c.id IN (`+placeholders(len(ids))+`) ORDER BY c.started_at, c.id`,
		append([]any{epoch(db.now().Add(-ghostAge))}, anys(ids)...)...)
}

// FinalizeOrphanedCompressions ends, with orphaned_compression, sessions whose
// parent was compressed, that have messages but no API calls, and started over
// 7 days ago. It returns how many.
func (db *DB) FinalizeOrphanedCompressions(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "finalize orphaned compressions")
	err = db.write(ctx, func(tx engine.Execer) error {
		now := db.now()
		n, err = tx.Exec(ctx, `UPDATE sessions SET ended_at = ?, end_reason = 'orphaned_compression'
 WHERE ended_at IS NULL AND COALESCE(api_call_count, 0) = 0 AND started_at < ?
 AND EXISTS (SELECT 1 FROM sessions p WHERE p.id = sessions.parent_session_id AND p.end_reason = 'compression')
 AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)`, epoch(now), epoch(now.Add(-unfinishedAge)))
		return err
	})
	return n, err
}
