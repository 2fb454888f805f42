package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// TrashRestored tells what came back from the trash.
type TrashRestored struct {
	Sessions []string // ids
	Messages int64
	// Untitled are those that lost their title, which another session has by now.
	Untitled []string
	// Rejoined are the sessions that have a parent again, which the deletion had
	// taken away: children that had stayed, and what came back itself.
	Rejoined []string
}

// RestoreTrashed puts a conversation back as it was, with the same ids, in one
// transaction. Children that it left behind get their parent back, unless they
// have another one by now; it gets its own, if that is there. An unknown deletion
// is [ErrNotFound]. Where a session of the same id exists again, or a message, the
// error is [ErrExists], and all stays as it is.
func (db *DB) RestoreTrashed(ctx context.Context, trashID string) (r TrashRestored, err error) {
	defer wrap(&err, "restore %s from the trash", trashID)
	err = db.write(ctx, func(tx engine.Execer) error {
		some, err := trashTable.exists(ctx, tx)
		if err != nil || !some {
			return orNotFound(err)
		}
		b := comeback{tx: tx, id: trashID, now: epoch(db.now())}
		err = b.run(ctx)
		r = b.done
		return err
	})
	if err != nil {
		return TrashRestored{}, err
	}
	return r, nil
}

// comeback is a conversation on its way out of the trash.
type comeback struct {
	tx   engine.Execer
	id   string // of the deletion
	now  float64
	root string
	kind Kind // of the root
	done TrashRestored
}

func (b *comeback) run(ctx context.Context) (err error) {
	err = b.tx.QueryRow(ctx, `SELECT session_id, kind, messages FROM sessiondb_trash WHERE id = ?`, b.id).Scan(&b.root, &b.kind, &b.done.Messages)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return err
	}
	if b.done.Sessions, err = queryStrings(ctx, b.tx, `SELECT id FROM sessiondb_trash_sessions WHERE trash_id = ? ORDER BY started_at, id`, b.id); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{b.free, b.untitle, b.unlink, b.insert, b.rejoin} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return leaveTrash(ctx, b.tx, []string{b.id})
}

// free makes sure that nothing has the ids.
func (b *comeback) free(ctx context.Context) error {
	for what, query := range map[string]string{
		"session": `SELECT CAST(MIN(s.id) AS TEXT) FROM sessions s JOIN sessiondb_trash_sessions t ON t.id = s.id WHERE t.trash_id = ?`,
		"message": `SELECT CAST(MIN(m.id) AS TEXT) FROM messages m JOIN sessiondb_trash_messages t ON t.id = m.id WHERE t.trash_id = ?`,
	} {
		var id *string
		if err := b.tx.QueryRow(ctx, query, b.id).Scan(&id); err != nil {
			return err
		}
		if id != nil {
			return fmt.Errorf("%w: %s %s is there again", ErrExists, what, *id)
		}
	}
	return nil
}

// untitle takes away the titles that others have by now.
func (b *comeback) untitle(ctx context.Context) (err error) {
	b.done.Untitled, err = queryStrings(ctx, b.tx, `SELECT t.id FROM sessiondb_trash_sessions t WHERE t.trash_id = ?
 AND EXISTS (SELECT 1 FROM sessions s WHERE s.title = t.title) ORDER BY t.id`, b.id)
	if err == nil && len(b.done.Untitled) > 0 {
		_, err = b.tx.Exec(ctx, `UPDATE sessiondb_trash_sessions SET title = NULL WHERE trash_id = ?
 AND title IN (SELECT s.title FROM sessions s WHERE s.title IS NOT NULL)`, b.id)
	}
	return err
}

// unlink takes away parents that are not there. They are remembered, and given
// back when they are.
func (b *comeback) unlink(ctx context.Context) error {
	var gone []orphan
	err := eachRow(ctx, b.tx, func(r engine.Rows) error {
		o := orphan{kind: Continuation}
		err := r.Scan(&o.id, textColumn{"", &o.parent, new(odd)})
		if o.id == b.root {
			o.kind = b.kind
		}
		gone = append(gone, o)
		return err
	}, `SELECT t.id, t.parent_session_id FROM sessiondb_trash_sessions t WHERE t.trash_id = ? AND t.parent_session_id IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = t.parent_session_id)
 AND NOT EXISTS (SELECT 1 FROM sessiondb_trash_sessions o WHERE o.trash_id = t.trash_id AND o.id = t.parent_session_id)`, b.id)
	if err != nil {
		return err
	}
	for _, o := range gone {
		if _, err := b.tx.Exec(ctx, `UPDATE sessiondb_trash_sessions SET parent_session_id = NULL WHERE trash_id = ? AND id = ?`, b.id, o.id); err != nil {
			return err
		}
	}
	known, err := b.remembered(ctx)
	if err != nil {
		return err
	}
	gone = slices.DeleteFunc(gone, func(o orphan) bool { return slices.Contains(known, o.id) })
	return rememberOrphans(ctx, b.tx, gone, b.now)
}

// remembered are the sessions of which the store knew what they came from: that
// comes back too.
func (b *comeback) remembered(ctx context.Context) ([]string, error) {
	columns, err := b.tx.Columns(ctx, orphansTrash)
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	return queryStrings(ctx, b.tx, `SELECT session_id FROM `+orphansTrash+` WHERE trash_id = ?`, b.id)
}

// insert copies the rows back, with every column that is there and here.
func (b *comeback) insert(ctx context.Context) error {
	for _, t := range trashedTables {
		there, err := b.tx.Columns(ctx, t.trash())
		if err == nil && len(there) > 0 {
			err = t.putBack(ctx, b.tx, b.id, there)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack copies the rows of a deletion back; there are the columns in the trash.
func (t trashed) putBack(ctx context.Context, tx engine.Execer, trashID string, there []engine.Column) error {
	var rows int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+t.trash()+` WHERE trash_id = ?`, trashID).Scan(&rows); err != nil || rows == 0 {
		return err
	}
	if t.made != nil {
		if err := t.made.make(ctx, tx); err != nil {
			return err
		}
	}
	here, err := tx.Columns(ctx, t.name)
	if err != nil {
		return err
	}
	list := names(slices.DeleteFunc(here, func(c engine.Column) bool {
		return !slices.ContainsFunc(there, func(o engine.Column) bool { return o.Name == c.Name })
	}))
	query := `INSERT INTO ` + t.name + ` (` + list + `) SELECT ` + list + ` FROM ` + t.trash() + ` t WHERE t.trash_id = ?`
	if t.made != nil {
		query += ` ON CONFLICT DO NOTHING`
	}
	_, err = tx.Exec(ctx, query, trashID)
	return err
}

// rejoin gives back parents that a deletion took away, to what came back and to
// what had stayed.
func (b *comeback) rejoin(ctx context.Context) error {
	some, err := orphansTable.exists(ctx, b.tx)
	if err != nil || !some {
		return err
	}
	var lost []orphan
	for _, column := range []string{"o.session_id", "o.parent_id"} {
		err := eachIn(ctx, b.tx, func(r engine.Rows) error {
			var o orphan
			err := r.Scan(&o.id, &o.parent)
			lost = append(lost, o)
			return err
		}, `SELECT o.session_id, o.parent_id FROM sessiondb_orphans o JOIN sessions c ON c.id = o.session_id
 JOIN sessions p ON p.id = o.parent_id AND p.id <> c.id
 WHERE NOT `+branchedSQL+` AND o.orphaned_at >= c.started_at AND o.orphaned_at >= p.started_at
 AND (c.parent_session_id IS NULL OR o.kind = 'continuation' AND c.parent_session_id = p.parent_session_id) AND `+column+` IN`, b.done.Sessions)
		if err != nil {
			return err
		}
	}
	for _, o := range lost {
		if slices.Contains(b.done.Rejoined, o.id) {
			continue
		}
		b.done.Rejoined = append(b.done.Rejoined, o.id)
		if _, err := b.tx.Exec(ctx, `UPDATE sessions SET parent_session_id = ? WHERE id = ?`, o.parent, o.id); err != nil {
			return err
		}
		if _, err := b.tx.Exec(ctx, `DELETE FROM sessiondb_orphans WHERE session_id = ?`, o.id); err != nil {
			return err
		}
	}
	slices.Sort(b.done.Rejoined)
	return nil
}

// leaveTrash deletes what the trash has of deletions.
func leaveTrash(ctx context.Context, tx engine.Execer, trashIDs []string) error {
	for _, t := range trashedTables {
		columns, err := tx.Columns(ctx, t.trash())
		if err == nil && len(columns) > 0 {
			_, err = execIn(ctx, tx, `DELETE FROM `+t.trash()+` WHERE trash_id IN`, trashIDs)
		}
		if err != nil {
			return err
		}
	}
	_, err := execIn(ctx, tx, `DELETE FROM sessiondb_trash WHERE id IN`, trashIDs)
	return err
}
