package sessiondb

import (
	"context"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Trashed is a conversation in the trash.
type Trashed struct {
	ID        string  // of the deletion
	Session   Session // the part of the conversation that began last, as it was
	Sessions  int64   // parts of the conversation
	Messages  int64   // of all parts
	DeletedAt time.Time
	// ExpiresAt is when it may go for good: what deletes next, and automatic
	// maintenance, empty the trash of what is older.
	ExpiresAt time.Time
}

// TrashFilter says what of the trash to list.
type TrashFilter struct {
	Limit  int // 0 means 20, negative no limit
	Offset int
}

// Trash lists the conversations in the trash, the last deleted first.
func (db *DB) Trash(ctx context.Context, f TrashFilter) (out []Trashed, err error) {
	defer wrap(&err, "list trash")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		some, err := trashTable.exists(ctx, q)
		if err != nil || !some {
			return err
		}
		limit, offset := page(f.Limit, f.Offset)
		if limit == 0 {
			limit = farthestPage
		}
		out, err = trashedWhere(ctx, q, ` ORDER BY e.deleted_at DESC, e.id LIMIT ? OFFSET ?`, limit, offset)
		return err
	})
	return out, err
}

// TrashSize counts the conversations in the trash, and their messages.
func (db *DB) TrashSize(ctx context.Context) (conversations, messages int64, err error) {
	defer wrap(&err, "count trash")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		some, err := trashTable.exists(ctx, q)
		if err != nil || !some {
			return err
		}
		return q.QueryRow(ctx, `SELECT COUNT(*), COALESCE(SUM(messages), 0) FROM sessiondb_trash`).Scan(&conversations, &messages)
	})
	return conversations, messages, err
}

// trashedWhere reads rows e of the trash, and the last session of each.
func trashedWhere(ctx context.Context, q engine.Queryer, rest string, args ...any) (out []Trashed, err error) {
	at := map[string]int{}
	var ids []string
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var t Trashed
		err := r.Scan(&t.ID, timeColumn{"deleted_at", &t.DeletedAt, new(odd)}, &t.Sessions, &t.Messages)
		t.ExpiresAt = t.DeletedAt.Add(TrashRetention)
		at[t.ID] = len(out)
		out, ids = append(out, t), append(ids, t.ID)
		return err
	}, `SELECT e.id, e.deleted_at, e.sessions, e.messages FROM sessiondb_trash e`+rest, args...)
	if err != nil {
		return nil, err
	}
	err = eachIn(ctx, q, func(r engine.Rows) error {
		var id string
		var s Session
		if err := r.Scan(append([]any{&id}, s.scanTargets()...)...); err != nil {
			return err
		}
		last := &out[at[id]].Session
		if last.ID == "" || s.StartedAt.After(last.StartedAt) || s.StartedAt.Equal(last.StartedAt) && s.ID > last.ID {
			*last = s
		}
		return nil
	}, `SELECT s.trash_id, `+sessionSelect+` FROM sessiondb_trash_sessions s WHERE s.trash_id IN`, ids)
	return out, err
}

// trashRefs are the ways to mean a conversation in the trash: by the deletion, by
// the id of a session, by a title, and by the beginning of an id.
var trashRefs = []string{
	`SELECT e.id, e.id FROM sessiondb_trash e WHERE e.id = ?`,
	`SELECT s.trash_id, s.id FROM sessiondb_trash_sessions s WHERE s.id = ?`,
	`SELECT s.trash_id, s.title FROM sessiondb_trash_sessions s WHERE s.title = ?`,
	`SELECT s.trash_id, s.id FROM sessiondb_trash_sessions s WHERE s.id LIKE ? ESCAPE '\'`,
}

// FindTrashed returns the conversation in the trash that a person means: by the id
// of the deletion, the id or the title of a session, or the beginning of an id. Of
// several deletions of one session it is the last. None is [ErrNotFound]; if the
// beginning fits several conversations, the error is an [*AmbiguousError].
func (db *DB) FindTrashed(ctx context.Context, ref string) (t Trashed, err error) {
	defer wrap(&err, "find %q in the trash", ref)
	err = db.read(ctx, func(q engine.Queryer) error {
		some, err := trashTable.exists(ctx, q)
		if err != nil || !some || ref == "" {
			return orNotFound(err)
		}
		for i, query := range trashRefs {
			arg := ref
			if i == len(trashRefs)-1 {
				arg = likePrefix(ref)
			}
			found, called, err := trashedCalled(ctx, q, query, arg)
			switch {
			case err != nil:
				return err
			case len(called) > 1 && i == len(trashRefs)-1:
				return &AmbiguousError{Ref: ref, Candidates: called[:min(len(called), maxCandidates)]}
			case len(found) > 0:
				t = found[0]
				return nil
			}
		}
		return ErrNotFound
	})
	return t, err
}

func orNotFound(err error) error {
	if err == nil {
		err = ErrNotFound
	}
	return err
}

// trashedCalled returns what a query names, the last deleted first, and the
// different names.
func trashedCalled(ctx context.Context, q engine.Queryer, query, ref string) (found []Trashed, called []string, err error) {
	var ids []any
	deletions, names := map[string]bool{}, map[string]bool{}
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var id, name string
		err := r.Scan(&id, &name)
		if !deletions[id] && len(ids) < inBatch {
			deletions[id], ids = true, append(ids, id)
		}
		if !names[name] {
			names[name], called = true, append(called, name)
		}
		return err
	}, query, ref)
	if err != nil || len(ids) == 0 {
		return nil, nil, err
	}
	found, err = trashedWhere(ctx, q, ` WHERE e.id IN (`+placeholders(len(ids))+`) ORDER BY e.deleted_at DESC, e.id`, ids...)
	if len(ids) == 1 {
		called = called[:1] // several parts of one conversation
	}
	return found, called, err
}
