package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// rowCheck looks at rows by the rules of the store.
type rowCheck struct {
	what string
	run  func(*DB, context.Context, engine.Queryer) ([]engine.Finding, error)
}

var rowChecks = []rowCheck{
	{"messages without a session", (*DB).checkOrphans},
	{"parents of sessions", (*DB).checkParents},
	{"titles", (*DB).checkTitles},
	{"counters of sessions", (*DB).checkCounters},
}

// checkRows runs the row checks, each on a snapshot of its own: a long one
// keeps the log of a busy store from being moved, so none should be longer than
// it has to.
func (db *DB) checkRows(ctx context.Context, o CheckOptions) (out []engine.Finding, err error) {
	for i, c := range rowChecks {
		if o.Progress != nil {
			o.Progress(c.what, int64(i), int64(len(rowChecks)))
		}
		var found []engine.Finding
		err := db.read(ctx, func(q engine.Queryer) error {
			return pastIndexes(ctx, q, func() (err error) {
				found, err = c.run(db, ctx, q)
				return err
			})
		})
		if err != nil {
			f, err := unchecked(ctx, c.what, err)
			if err != nil {
				return out, err
			}
			found = []engine.Finding{f}
		}
		out = append(out, found...)
	}
	return out, nil
}

// pastIndexes runs look, and again without the indexes that are damaged. Where
// rows can't be read either, what a look at the others finds may be wrong: then
// it fails.
func pastIndexes(ctx context.Context, q engine.Queryer, look func() error) error {
	err := look()
	s, ok := q.(engine.Salvager)
	for ok && errors.Is(err, ErrCorrupt) {
		loss, more, e := s.Salvage(ctx)
		if e != nil || !more || len(loss.Tables) > 0 {
			return err
		}
		err = look()
	}
	return err
}

// named is how many ids or titles a finding names.
const named = 3

// some names the first few of a list.
func some(list []string) string {
	s := fmt.Sprintf("%q", list[0])
	for _, e := range list[1:min(len(list), named)] {
		s += fmt.Sprintf(", %q", e)
	}
	if more := len(list) - named; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// counted is "1 session", "2 sessions".
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// orphanSQL are the messages m without a session.
const orphanSQL = ` FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE s.id IS NULL`

func (db *DB) checkOrphans(ctx context.Context, q engine.Queryer) (out []engine.Finding, err error) {
	var ids []string
	var messages int64
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var id string
		var n int64
		err := r.Scan(&id, &n)
		ids, messages = append(ids, id), messages+n
		return err
	}, `SELECT COALESCE(m.session_id, ''), COUNT(*)`+orphanSQL+` GROUP BY m.session_id ORDER BY 1`)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	of := "1 session that does not exist"
	if len(ids) > 1 {
		of = fmt.Sprintf("%d sessions that do not exist", len(ids))
	}
	return []engine.Finding{{Code: "orphan_messages", What: fmt.Sprintf("%s of %s: %s", counted(messages, "message"), of, some(ids))}}, nil
}

func (db *DB) checkParents(ctx context.Context, q engine.Queryer) (out []engine.Finding, err error) {
	missing, cycles, err := wrongParents(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		out = append(out, engine.Finding{Code: "missing_parent",
			What: counted(int64(len(missing)), "session") + " whose parent does not exist: " + some(missing)})
	}
	for _, c := range cycles {
		out = append(out, engine.Finding{Code: "parent_cycle", What: inCircle(c)})
	}
	return out, nil
}

// wrongParents returns the sessions whose parent does not exist, and the
// circles of parents, all by id; a circle begins with its smallest id.
func wrongParents(ctx context.Context, q engine.Queryer) (missing []string, cycles [][]string, err error) {
	parent := map[string]string{}
	var ids []string
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var id, p string
		var gone bool
		if err := r.Scan(&id, &p, &gone); err != nil {
			return err
		}
		if gone {
			missing = append(missing, id)
			return nil
		}
		ids = append(ids, id)
		parent[id] = p
		return nil
	}, `SELECT c.id, c.parent_session_id, p.id IS NULL FROM sessions c LEFT JOIN sessions p ON p.id = c.parent_session_id
 WHERE c.parent_session_id IS NOT NULL AND c.id IS NOT NULL ORDER BY c.id`)
	return missing, circles(ids, parent), err
}

// circles finds the circles in a map of parents. It passes every session once.
func circles(ids []string, parent map[string]string) (out [][]string) {
	walk := map[string]int{} // in which walk a session was passed
	for n, id := range ids {
		at := id
		for walk[at] == 0 {
			walk[at] = n + 1
			next, ok := parent[at]
			if !ok {
				break
			}
			at = next
		}
		if _, on := parent[at]; walk[at] != n+1 || !on {
			continue
		}
		circle := []string{at}
		for next := parent[at]; next != at; next = parent[next] {
			circle = append(circle, next)
		}
		least := slices.Index(circle, smallest(circle))
		out = append(out, append(circle[least:], circle[:least]...))
	}
	return out
}

func (db *DB) checkTitles(ctx context.Context, q engine.Queryer) (out []engine.Finding, err error) {
	titles, err := sharedTitles(ctx, q)
	if err != nil || len(titles) == 0 {
		return nil, err
	}
	ids, err := queryStrings(ctx, q, `SELECT id FROM sessions WHERE title = ? AND id IS NOT NULL ORDER BY started_at, id`, titles[0])
	if err != nil || len(ids) < 2 {
		return nil, err
	}
	other, err := nextTitle(ctx, q, titles[0])
	if err != nil {
		return nil, err
	}
	place := ShellQuote(db.engine.Info().Place)
	return []engine.Finding{{Code: "duplicate_title", What: fmt.Sprintf("%s of several sessions: %s; %q is that of %s: rename all but one, then doctor --fix keeps titles apart",
		counted(int64(len(titles)), "title"), some(titles), titles[0], some(ids)),
		Fix: "sessiondb rename " + ShellQuote(ids[len(ids)-1]) + " " + ShellQuote(other) + " --db " + place}}, nil
}

// sharedTitles are those that several sessions have.
func sharedTitles(ctx context.Context, q engine.Queryer) ([]string, error) {
	return queryStrings(ctx, q, `SELECT title FROM sessions WHERE title IS NOT NULL GROUP BY title HAVING COUNT(*) > 1 ORDER BY title`)
}

// tally is what a session counts, and what it has.
type tally struct {
	messages, calls         int64
	countsMessages, countsC int64
}

func (t tally) wrong() bool { return t.messages != t.countsMessages || t.calls != t.countsC }

func (db *DB) checkCounters(ctx context.Context, q engine.Queryer) (out []engine.Finding, err error) {
	if !db.engine.Info().Current {
		return nil, nil
	}
	wrong, err := wrongCounters(ctx, q, nil)
	if err != nil || len(wrong) == 0 {
		return nil, err
	}
	return []engine.Finding{{Code: "counters", What: counted(int64(len(wrong)), "session") +
		" with other counts than messages or tool calls: " + some(wrong)}}, nil
}

// wrongCounters returns the sessions whose counters do not fit their messages,
// of those given, or of all.
func wrongCounters(ctx context.Context, q engine.Queryer, only []string) (ids []string, err error) {
	all, err := tallies(ctx, q, only)
	for id, t := range all {
		if t.wrong() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// tallies counts what the sessions have, those given or all.
func tallies(ctx context.Context, q engine.Queryer, only []string) (map[string]*tally, error) {
	all := map[string]*tally{}
	each := func(query, column string, scan func(engine.Rows) error) error {
		if only != nil {
			return eachIn(ctx, q, scan, query+` AND `+column+` IN`, only)
		}
		return eachRow(ctx, q, scan, query)
	}
	o := &odd{}
	err := each(`SELECT id, message_count, tool_call_count FROM sessions WHERE id IS NOT NULL`, "id", func(r engine.Rows) error {
		var id string
		t := &tally{}
		err := r.Scan(&id, intColumn{"message_count", &t.countsMessages, o}, intColumn{"tool_call_count", &t.countsC, o})
		all[id] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	err = each(`SELECT session_id, tool_calls FROM messages WHERE session_id IS NOT NULL`, "session_id", func(r engine.Rows) error {
		var id string
		var calls any
		if err := r.Scan(&id, &calls); err != nil {
			return err
		}
		if t := all[id]; t != nil {
			t.messages++
			t.calls += int64(callsIn(calls))
		}
		return nil
	})
	return all, err
}

// callsIn counts the tool calls in a stored value.
func callsIn(v any) int {
	switch v := v.(type) {
	case string:
		return text.CountItems(v)
	case []byte:
		return text.CountItems(string(v))
	}
	return 0
}
