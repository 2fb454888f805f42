package sessiondb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"sort"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// CopyOptions shape Copy. The zero value works.
type CopyOptions struct {
	// Progress is told what is being done and how many rows of it are done; nil is
	// fine.
	Progress func(what string, done, total int64)
}

// CopyReport tells what a target holds after a copy, and what the copy did.
type CopyReport struct {
	From     string `json:"from"` // as a command line calls it, without a password
	To       string `json:"to"`
	Sessions int64  `json:"sessions"`
	Messages int64  `json:"messages"`
	Others   int64  `json:"others"` // rows of other tables
	// Stored is how many of these rows this run stored; the others were there from
	// one that was interrupted.
	Stored  int64 `json:"stored"`
	Resumed bool  `json:"resumed"`
	// Checksum is a SHA-256 over every value of every row, in both stores. Two
	// stores of the same rows have the same one, whatever engine keeps them.
	Checksum string `json:"checksum"`
}

// copyPasses is how often a source that is being written to is read again.
const copyPasses = 4

// Copy copies every session, every message and what belongs to them from one
// store to another, of any engine, with all values and ids as they are. Then it
// reads both, compares row by row, and puts right what was written to the source
// meanwhile; it ends without an error when the target is what the source is at one
// moment.
//
// The target must be empty, or hold a copy of this source that was interrupted:
// that one is gone on with. Else the error is [ErrNotEmpty], and nothing is
// changed. Nobody else may write to the target before the copy is done. What was
// stored stays after an error, after [ErrSourceChanges] too, which says that the
// source is being written to all the time: stop that, and copy again.
//
// What no target could hold, such as messages without a session, is
// [ErrUncopied], and told before anything is written; [CheckCopy] tells it before
// there is a target. A value that the target can't hold is that error as well, and
// names the row.
func Copy(ctx context.Context, from, to *DB, o CopyOptions) (r CopyReport, err error) {
	defer wrap(&err, "copy")
	c := &copier{from: from, to: to, o: o, limit: copyRows}
	c.r.From, c.r.To = from.engine.Info().Place, to.engine.Info().Place
	if err := c.begin(ctx); err != nil {
		return c.r, err
	}
	read := func(fn func(engine.Queryer) error) error { return from.read(ctx, fn) }
	if _, err := c.fillAll(ctx, read); err != nil {
		return c.r, err
	}
	for range copyPasses {
		changed, err := c.pass(ctx)
		if err != nil {
			return c.r, err
		}
		if changed == 0 {
			return c.r, c.finish(ctx)
		}
	}
	return c.r, ErrSourceChanges
}

// copier is one Copy under way.
type copier struct {
	from, to *DB
	o        CopyOptions
	r        CopyReport
	mark     copyMark
	limit    int   // rows of the next page
	newest   int64 // id of the last message to copy
	done     int64
	total    int64
	what     string
}

// reading runs a function on the source: on a snapshot of its own, or on one for
// all.
type reading func(func(engine.Queryer) error) error

// pass makes the target what the source is in one snapshot, and returns the number
// of rows that were not.
func (c *copier) pass(ctx context.Context) (changed int64, err error) {
	err = c.to.read(ctx, func(q engine.Queryer) error { return c.untouched(ctx, q) })
	if err != nil {
		return 0, err
	}
	err = c.from.read(ctx, func(q engine.Queryer) error {
		changed, err = c.fillAll(ctx, func(fn func(engine.Queryer) error) error { return fn(q) })
		if err != nil {
			return err
		}
		n, err := c.compareAll(ctx, q)
		changed += n
		return err
	})
	return changed, err
}

// begins says what is being done from now on.
func (c *copier) begins(what string, total int64) {
	c.what, c.done, c.total = what, 0, total
	c.went(0)
}

func (c *copier) went(n int) {
	c.done += int64(n)
	if c.o.Progress != nil {
		c.o.Progress(c.what, c.done, c.total)
	}
}

// next reads a page of the source, and sets how many rows the one after it has.
func (c *copier) next(ctx context.Context, q engine.Queryer, t *copyTable, after []any) ([][]any, []any, error) {
	rows, next, err := t.page(ctx, q, t.order(c.from), after, c.limit)
	if len(rows) == c.limit {
		c.limit = min(2*c.limit, copyRows)
	} else {
		c.limit = max(len(rows), copyFewRows)
	}
	return rows, next, err
}

// fillAll stores the rows that the target lacks, and returns how many.
func (c *copier) fillAll(ctx context.Context, read reading) (made int64, err error) {
	// Newer messages may belong to sessions that come too late.
	err = read(func(q engine.Queryer) error {
		return q.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM messages`).Scan(&c.newest)
	})
	if err != nil {
		return 0, err
	}
	for _, t := range copyTables {
		n, err := c.fill(ctx, read, t)
		if made += n; err != nil {
			return made, err
		}
		if t == sessionsCopied {
			if err := c.link(ctx, read); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// fill stores the rows of a table that the target lacks. Messages are those behind
// the last one that was copied; what came in between, a pass finds.
func (c *copier) fill(ctx context.Context, read reading, t *copyTable) (made int64, err error) {
	var after []any
	err = read(func(q engine.Queryer) error {
		total, err := t.count(ctx, q)
		c.begins("copying "+t.name, total)
		return err
	})
	if t == messagesCopied {
		after = []any{int64(math.MinInt64)}
		if c.mark.Last != nil {
			after[0] = *c.mark.Last
			c.went(int(c.mark.Messages))
		}
	}
	for err == nil && c.total > 0 {
		var rows, missing [][]any
		err = read(func(q engine.Queryer) (err error) {
			rows, after, err = c.next(ctx, q, t, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			break
		}
		if missing, err = c.missing(ctx, t, rows); err != nil || len(missing) == 0 && t == messagesCopied {
			break
		}
		err = c.store(ctx, t, missing)
		made += int64(len(missing))
		c.went(len(rows))
	}
	return made, err
}

// missing returns the rows that the target lacks.
func (c *copier) missing(ctx context.Context, t *copyTable, rows [][]any) (out [][]any, err error) {
	if t == messagesCopied {
		n := sort.Search(len(rows), func(i int) bool { id, _ := rows[i][0].(int64); return id > c.newest })
		return rows[:n], nil
	}
	err = c.to.read(ctx, func(q engine.Queryer) error {
		out = nil
		found, err := t.find(ctx, q, rows)
		for _, row := range rows {
			if found[t.keyOf(row)] == nil {
				out = append(out, row)
			}
		}
		return err
	})
	return out, err
}

// linkSQL lets the parent be that has come into the source since sessions were
// copied: a pass finds it.
const linkSQL = `UPDATE sessions SET parent_session_id = (SELECT p.id FROM sessions p WHERE p.id = ?) WHERE id = ? AND parent_session_id IS NULL`

// link gives sessions their parents, once all sessions are there.
func (c *copier) link(ctx context.Context, read reading) error {
	children := &copyTable{name: "sessions", key: []string{"id"}, columns: []string{"id", "parent_session_id"}, where: "parent_session_id IS NOT NULL"}
	c.begins("linking sessions", 0)
	var after []any
	for {
		var rows [][]any
		err := read(func(q engine.Queryer) (err error) {
			rows, after, err = children.page(ctx, q, children.key, after, copyRows)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		err = c.to.write(ctx, func(tx engine.Execer) error {
			for _, row := range rows {
				_, err := tx.Exec(ctx, linkSQL, row[1], row[0])
				if err != nil {
					return fmt.Errorf("parent of %s: %w", children.rowName(row), err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.went(len(rows))
	}
}

// finish takes the mark away.
func (c *copier) finish(ctx context.Context) error {
	return c.to.write(ctx, func(tx engine.Execer) error {
		if err := c.untouched(ctx, tx); err != nil {
			return err
		}
		if err := passTrashed(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM state_meta WHERE key = ?`, copyKey)
		return err
	})
}

// passTrashed sees to it that no message gets the id of one in the trash, which could
// not come back then: both engines give ids beyond the highest that was ever there.
func passTrashed(ctx context.Context, tx engine.Execer) error {
	there, err := trashedMessagesCopied.in(ctx, tx)
	if err != nil || !there {
		return err
	}
	var newest, trashed int64
	err = tx.QueryRow(ctx, `SELECT (SELECT COALESCE(MAX(id), 0) FROM messages), (SELECT COALESCE(MAX(id), 0) FROM `+trashedMessagesCopied.name+`)`).Scan(&newest, &trashed)
	if err != nil || trashed <= newest {
		return err
	}
	session := "copy_" + newTrashID()
	for _, do := range []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO sessions (id, source, started_at) VALUES (?, 'copy', 0)`, []any{session}},
		{`INSERT INTO messages (id, session_id, role, timestamp) VALUES (?, ?, 'user', 0)`, []any{trashed, session}},
		{`DELETE FROM messages WHERE id = ?`, []any{trashed}},
		{`DELETE FROM sessions WHERE id = ?`, []any{session}},
	} {
		if _, err := tx.Exec(ctx, do.statement, do.args...); err != nil {
			return err
		}
	}
	return nil
}

// compareAll compares every row, and makes those of the target right that are not.
func (c *copier) compareAll(ctx context.Context, q engine.Queryer) (changed int64, err error) {
	sum := sha256.New()
	counts := map[*copyTable]int64{}
	for _, t := range copyTables {
		n, wrong, err := c.compare(ctx, q, t, sum)
		if changed += wrong; err != nil {
			return changed, err
		}
		counts[t] = n
	}
	// Sessions go last: messages and what they say of their parents went before.
	for i := len(copyTables) - 1; i >= 0; i-- {
		n, err := c.removeGone(ctx, q, copyTables[i], counts[copyTables[i]])
		if changed += n; err != nil {
			return changed, err
		}
	}
	c.r.Sessions, c.r.Messages, c.r.Others = counts[sessionsCopied], counts[messagesCopied], 0
	for t, n := range counts {
		if t != sessionsCopied && t != messagesCopied {
			c.r.Others += n
		}
	}
	c.r.Checksum = hex.EncodeToString(sum.Sum(nil))
	return changed, nil
}

// compare compares the rows of a table, and returns how many there are and how
// many were not as in the source.
func (c *copier) compare(ctx context.Context, q engine.Queryer, t *copyTable, sum hash.Hash) (n, wrong int64, err error) {
	total, err := t.count(ctx, q)
	if err != nil || total == 0 {
		return 0, 0, err
	}
	c.begins("comparing "+t.name, total)
	var after []any
	for {
		var rows, differ [][]any
		if rows, after, err = c.next(ctx, q, t, after); err != nil || len(rows) == 0 {
			return n, wrong, err
		}
		if differ, err = c.different(ctx, t, rows, sum); err != nil {
			return n, wrong, err
		}
		n, wrong = n+int64(len(rows)), wrong+int64(len(differ))
		if len(differ) > 0 {
			if err := c.correct(ctx, t, differ); err != nil {
				return n, wrong, err
			}
		}
		c.went(len(rows))
	}
}

// different returns the rows that the target has not, or has otherwise.
func (c *copier) different(ctx context.Context, t *copyTable, rows [][]any, sum hash.Hash) (out [][]any, err error) {
	var found map[string][]any
	err = c.to.read(ctx, func(q engine.Queryer) error {
		found, err = t.find(ctx, q, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	var here, there []byte
	for _, row := range rows {
		here, there = appendRow(here[:0], row), appendRow(there[:0], found[t.keyOf(row)])
		_, _ = sum.Write(here)
		if string(here) != string(there) {
			out = append(out, row)
		}
	}
	return out, nil
}

// errUnlike is a row that the target gives back otherwise than it got it.
func errUnlike(t *copyTable, want, got []any) error {
	for i, name := range t.columns {
		if got == nil || string(appendRow(nil, want[i:i+1])) != string(appendRow(nil, got[i:i+1])) {
			what := "nothing"
			if got != nil {
				what = describe(got[i])
			}
			return fmt.Errorf("%w: %s: the column %s holds %s, and the target makes %s of it", ErrUncopied, t.rowName(want), name, describe(want[i]), what)
		}
	}
	return nil
}

// describe is a value in a few words.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case []byte:
		return fmt.Sprintf("a blob of %s", counted(int64(len(v)), "byte"))
	}
	return fmt.Sprintf("the number %v", v)
}

// passing says that an error is not about what was to be written.
func passing(ctx context.Context, err error) bool {
	for _, e := range []error{ErrBusy, ErrFull, ErrIO, ErrClosed, ErrReplaced, ErrReadOnly, ErrCorrupt, ErrNotEmpty} {
		if errors.Is(err, e) {
			return true
		}
	}
	return ctx.Err() != nil
}
