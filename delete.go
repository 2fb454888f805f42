package sessiondb

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// DeleteOptions shapes a deletion. The zero value works.
type DeleteOptions struct {
	// SessionsDir is a folder of transcript files; a session's own files
	// (<id>.json, <id>.jsonl, request_dump_<id>_*.json) go with it.
	SessionsDir string
	// Only deletes this one row, not its whole compression chain. What
	// continued it then continues the session before it.
	Only bool
	// DryRun reports what would go and deletes nothing.
	DryRun bool
	// Trash keeps what is deleted for 30 days, to be restored by
	// [DB.RestoreTrashed]. Files are not kept. What has been in the trash for
	// longer goes for good then.
	Trash bool
	// Progress is called after each transaction with the number of
	// conversations looked at so far and the total; nil is fine.
	Progress func(done, total int64)
}

// DeleteReport tells what a deletion took, or with DryRun would take.
type DeleteReport struct {
	Sessions []string // ids deleted
	Messages int64
	Orphaned []string // children that lost their parent and stay
	Files    []string // names removed from SessionsDir
	// FileErrors are files that could not be removed.
	FileErrors []string
	// SkippedOpen counts sessions that are old enough but never ended.
	SkippedOpen int64
	// Referenced are the first sessions of conversations that stay because rows
	// of other programs refer to them. A dry run does not tell.
	Referenced []string
}

// DeleteSession deletes a conversation: the whole compression chain the
// session belongs to, which a list shows as one, in one transaction. Branches
// and delegates are orphaned, never deleted. Unknown is [ErrNotFound]; one that
// rows of another program refer to is [ErrReferenced]. Files are removed after
// the rows are gone; one that can't be is no error, but reported.
func (db *DB) DeleteSession(ctx context.Context, id string, o DeleteOptions) (r DeleteReport, err error) {
	defer wrap(&err, "delete session %s", id)
	s := db.newSweep(ctx, o, &r)
	defer s.close(ctx)
	err = s.take(ctx, func(q engine.Queryer) ([]string, error) {
		ok, err := sessionExists(ctx, q, id)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, ErrNotFound
		case o.Only:
			return []string{id}, nil
		}
		return chainIDs(ctx, q, id)
	})
	return r, err
}

// deletion is what one transaction takes.
type deletion struct {
	ids      []string
	messages int64
	orphans  []orphan
	trash    []conversation // what is kept
}

// remove deletes the sessions that choose returns, within its transaction;
// with o.DryRun it only tells what would go. Choose may run more than once.
func (db *DB) remove(ctx context.Context, o DeleteOptions, choose func(engine.Queryer) ([]string, error)) (d deletion, err error) {
	plan := func(q engine.Queryer) error {
		ids, err := choose(q)
		if err == nil {
			d, err = planDeletion(ctx, q, ids, o)
		}
		return err
	}
	if o.DryRun {
		err = db.read(ctx, plan)
		return d, err
	}
	err = db.write(ctx, func(tx engine.Execer) error {
		if err := plan(tx); err != nil || len(d.ids) == 0 {
			return err
		}
		return d.apply(ctx, tx, epoch(db.now()))
	})
	return d, err
}

// planDeletion looks up what goes with sessions and who is left behind.
func planDeletion(ctx context.Context, q engine.Queryer, ids []string, o DeleteOptions) (d deletion, err error) {
	d.ids = ids
	if d.orphans, err = orphansOf(ctx, q, ids); err != nil {
		return d, err
	}
	if o.Only {
		if err := d.settle(ctx, q); err != nil {
			return d, err
		}
	}
	if o.Trash && !o.DryRun {
		if d.trash, err = conversations(ctx, q, ids); err != nil {
			return d, err
		}
	}
	if !o.DryRun {
		return d, nil // the deletion itself counts messages
	}
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var n int64
		err := r.Scan(&n)
		d.messages += n
		return err
	}, `SELECT COUNT(*) FROM messages WHERE session_id IN`, ids)
	return d, err
}

// orphansOf returns the children of sessions that are not among them, by id.
func orphansOf(ctx context.Context, q engine.Queryer, ids []string) (out []orphan, err error) {
	going := make(map[string]bool, len(ids))
	for _, id := range ids {
		going[id] = true
	}
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var o orphan
		err := r.Scan(textColumn{"", &o.id, new(odd)}, textColumn{"", &o.parent, new(odd)}, &o.kind)
		if err == nil && !going[o.id] {
			out = append(out, o)
		}
		return err
	}, `SELECT c.id, p.id, `+kindSQL+withParentSQL+` WHERE c.parent_session_id IN`, ids)
	slices.SortFunc(out, func(a, b orphan) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return out, err
}

// settle decides about what continues a single row that goes. It continues the
// row before, if there is one; else it is what the row was.
func (d *deletion) settle(ctx context.Context, q engine.Queryer) error {
	parent, kind, err := originOf(ctx, q, d.ids[0])
	if err != nil {
		return err
	}
	for i := range d.orphans {
		o := &d.orphans[i]
		switch {
		case o.kind != Continuation:
		case kind == Continuation && parent != o.id:
			o.heir = parent
		case kind == Delegate:
			o.kind = Delegate
		}
	}
	return nil
}

// apply deletes. Messages go before their sessions and pointers are cleared
// before what they point at, as the foreign keys ask for.
func (d *deletion) apply(ctx context.Context, tx engine.Execer, now float64) error {
	if len(d.trash) > 0 {
		if err := putInTrash(ctx, tx, d.trash, now); err != nil {
			return err
		}
	}
	n, err := execIn(ctx, tx, `DELETE FROM messages WHERE session_id IN`, d.ids)
	if err != nil {
		return err
	}
	d.messages = n
	for _, o := range d.orphans {
		if o.heir == "" {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE sessions SET parent_session_id = ? WHERE id = ?`, o.heir, o.id); err != nil {
			return err
		}
	}
	for _, query := range []string{
		`UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN`,
		`DELETE FROM sessions WHERE id IN`,
	} {
		if _, err := execIn(ctx, tx, query, d.ids); err != nil {
			return err
		}
	}
	for _, t := range trashedTables {
		if t.made == nil {
			continue
		}
		if err := t.made.forget(ctx, tx, d.ids); err != nil {
			return err
		}
	}
	if err := appendsTable.forget(ctx, tx, d.ids); err != nil {
		return err
	}
	left := d.orphans
	if len(d.trash) == 0 { // else what has an heir may get its parent back
		left = slices.DeleteFunc(slices.Clone(left), func(o orphan) bool { return o.heir != "" })
	}
	return rememberOrphans(ctx, tx, left, now)
}

func (r *DeleteReport) add(d deletion) {
	r.Sessions = append(r.Sessions, d.ids...)
	r.Messages += d.messages
	for _, o := range d.orphans {
		if o.heir == "" {
			r.Orphaned = append(r.Orphaned, o.id)
		}
	}
}
