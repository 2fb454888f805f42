package sessiondb

import (
	"context"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// RepairOptions shape Repair.
type RepairOptions struct {
	// Full also mends what only a full check finds.
	Full bool
	// Titles also gives a title that several sessions have a number, as
	// [DB.NextTitle] does. The one that began first keeps it.
	Titles bool
	// Done is told of each thing as it is done; nil is fine.
	Done func(Repaired)
}

// Repaired is one thing that Repair did.
type Repaired struct {
	Code string `json:"code"` // of the finding that it answers
	What string `json:"what"`
	// Sessions are the ids of those it was done to, where it was done to some.
	Sessions []string `json:"sessions,omitempty"`
}

// Repair does the least that mends what Check finds: a full-text index is
// brought up to date or made anew from the messages, a trigger, an index or a
// column is put back, counters are counted again. No message and no session is
// ever deleted:
//
//   - Messages whose session does not exist get one, of their id and of source
//     "unknown", that begins with the first of them.
//   - A parent that does not exist is forgotten, and of sessions that are their
//     own ancestors the one with the smallest id becomes the first. The table
//     sessiondb_orphans keeps what was forgotten.
//   - Titles that several sessions have stay, unless o.Titles is set: which is
//     to be another, people know.
//
// Each step is a transaction, so that a program that is killed leaves nothing
// half done, and others may write meanwhile. What was done is returned, also
// with an error. A store with damaged pages of tables is [ErrCorrupt] and is
// left as it is: each write could make it worse.
func (db *DB) Repair(ctx context.Context, o RepairOptions) (done []Repaired, err error) {
	defer wrap(&err, "repair")
	r := &repair{db: db, told: o.Done}
	err = db.engine.Repair(ctx, engine.RepairOptions{Full: o.Full, Done: func(e engine.Repaired) { r.did(e.Code, nil, "%s", e.What) }})
	steps := []func(context.Context) error{r.adopt, r.unlink, r.recount}
	if o.Titles {
		steps = append(steps, r.number)
	}
	for _, step := range steps {
		if err != nil {
			break
		}
		err = step(ctx)
	}
	return r.done, err
}

// repair mends rows by the rules of the store.
type repair struct {
	db   *DB
	told func(Repaired)
	done []Repaired
}

func (r *repair) did(code string, sessions []string, format string, args ...any) {
	d := Repaired{code, fmt.Sprintf(format, args...), sessions}
	r.done = append(r.done, d)
	if r.told != nil {
		r.told(d)
	}
}

// adoptSQL makes a session of each id that only messages have. Of unknown
// source, it takes the one that who goes on with it names. Where others say that
// they came from it, it counts as branched: else they would leave the list, as
// what a subagent did.
const adoptSQL = `INSERT INTO sessions (id, source, started_at, end_reason, message_count)
 SELECT m.session_id, '` + UnknownSource + `', COALESCE(MIN(m.timestamp), ?),
 CASE WHEN EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = m.session_id) THEN 'branched' END, COUNT(*)` +
	orphanSQL + ` AND m.session_id IS NOT NULL GROUP BY m.session_id`

// adopt gives messages without a session one.
func (r *repair) adopt(ctx context.Context) error {
	var ids []string
	err := r.db.write(ctx, func(tx engine.Execer) (err error) {
		ids, err = queryStrings(ctx, tx, `SELECT DISTINCT m.session_id`+orphanSQL+` AND m.session_id IS NOT NULL ORDER BY 1`)
		if err != nil || len(ids) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, adoptSQL, epoch(r.db.now())); err != nil {
			return err
		}
		_, err = countAgain(ctx, tx, ids)
		return err
	})
	if err == nil && len(ids) > 0 {
		r.did("orphan_messages", ids, "made %s for messages that had none: %s", counted(int64(len(ids)), "session"), some(ids))
	}
	return err
}

// unlink forgets parents that do not exist, and breaks circles.
func (r *repair) unlink(ctx context.Context) error {
	var missing []string
	var cycles [][]string
	err := r.db.write(ctx, func(tx engine.Execer) (err error) {
		if missing, cycles, err = wrongParents(ctx, tx); err != nil {
			return err
		}
		first := slices.Clone(missing)
		for _, c := range cycles {
			first = append(first, c[0])
		}
		return r.forgetParents(ctx, tx, first)
	})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		r.did("missing_parent", missing, "unlinked %s from a parent that does not exist: %s", counted(int64(len(missing)), "session"), some(missing))
	}
	for _, c := range cycles {
		r.did("parent_cycle", c[:1], "made %q the first of %s in a circle of parents", c[0], counted(int64(len(c)), "session"))
	}
	return nil
}

// forgetParents makes sessions ones without a parent, and remembers which they
// had. They are listed as before: a subagent's is none that a person began.
func (r *repair) forgetParents(ctx context.Context, tx engine.Execer, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var orphans []orphan
	err := eachIn(ctx, tx, func(row engine.Rows) error {
		var o orphan
		err := row.Scan(textColumn{"", &o.id, new(odd)}, textColumn{"", &o.parent, new(odd)}, &o.kind)
		orphans = append(orphans, o)
		return err
	}, `SELECT c.id, c.parent_session_id, CASE WHEN `+notDelegateSQL+` THEN 'root' ELSE 'delegate' END
 FROM sessions c WHERE c.id IN`, ids)
	if err != nil {
		return err
	}
	if _, err := execIn(ctx, tx, `UPDATE sessions SET parent_session_id = NULL WHERE id IN`, ids); err != nil {
		return err
	}
	return rememberOrphans(ctx, tx, orphans, epoch(r.db.now()))
}

// recountBatch is how many sessions are counted again in one transaction.
const recountBatch = 100

// recount puts counters right that are wrong.
func (r *repair) recount(ctx context.Context) error {
	if !r.db.engine.Info().Current {
		return nil
	}
	var wrong []string
	err := r.db.read(ctx, func(q engine.Queryer) (err error) {
		wrong, err = wrongCounters(ctx, q, nil)
		return err
	})
	var fixed int64
	for batch := range slices.Chunk(wrong, recountBatch) {
		if err != nil {
			break
		}
		var n int64
		err = r.db.write(ctx, func(tx engine.Execer) (err error) {
			n, err = countAgain(ctx, tx, batch)
			return err
		})
		if err == nil {
			fixed += n
		}
	}
	if fixed > 0 {
		r.did("counters", wrong, "counted the messages and tool calls of %s again: %s", counted(fixed, "session"), some(wrong))
	}
	return err
}

// countAgain sets the counters of sessions to what they have, where they
// differ, and returns of how many.
func countAgain(ctx context.Context, tx engine.Execer, ids []string) (fixed int64, err error) {
	all, err := tallies(ctx, tx, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		t := all[id]
		if t == nil || !t.wrong() {
			continue
		}
		n, err := tx.Exec(ctx, `UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?`, t.messages, t.calls, id)
		if err != nil {
			return fixed, err
		}
		fixed += n
	}
	return fixed, nil
}

// number gives titles that several sessions have a number, but for the first.
func (r *repair) number(ctx context.Context) error {
	var ids []string
	err := r.db.write(ctx, func(tx engine.Execer) error {
		ids = nil
		titles, err := sharedTitles(ctx, tx)
		for _, title := range titles {
			if err != nil {
				return err
			}
			var numbered []string
			numbered, err = numberTitle(ctx, tx, title)
			ids = append(ids, numbered...)
		}
		return err
	})
	if err == nil && len(ids) > 0 {
		r.did("duplicate_title", ids, "gave the title of %s that another one has a number: %s", counted(int64(len(ids)), "session"), some(ids))
	}
	return err
}

// numberTitle numbers all sessions of a title but the first, and returns them.
func numberTitle(ctx context.Context, tx engine.Execer, title string) ([]string, error) {
	ids, err := queryStrings(ctx, tx, `SELECT id FROM sessions WHERE title = ? AND id IS NOT NULL ORDER BY started_at, id`, title)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for _, id := range ids[1:] {
		next, err := nextTitle(ctx, tx, title)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, `UPDATE sessions SET title = ? WHERE id = ?`, next, id); err != nil {
			return nil, err
		}
	}
	return ids[1:], nil
}
