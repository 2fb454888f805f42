package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// mend makes a store of the rows that were found: messages have sessions,
// titles are taken once, counters count what is there.
func (r *recovery) mend(ctx context.Context) error {
	if err := r.c.script(ctx, "BEGIN"); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.mendTimes, r.addPlaceholders, r.mendTitles, r.mendCounters, r.mendSequence} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return r.c.script(ctx, "COMMIT")
}

// numeric is a time that can be read.
const numeric = "CASE WHEN typeof(timestamp) IN ('real', 'integer') AND timestamp > 0 THEN timestamp END"

// mendTimes gives rows that lost their time the one of what stands before.
func (r *recovery) mendTimes(ctx context.Context) error {
	_, err := r.c.exec(ctx, `UPDATE messages SET timestamp = COALESCE(
 (SELECT `+numeric+` FROM messages p WHERE p.id < messages.id AND p.session_id = messages.session_id ORDER BY p.id DESC LIMIT 1),
 (SELECT started_at FROM sessions s WHERE s.id = messages.session_id), 0)
 WHERE timestamp = 0 AND id IN (SELECT id FROM temp.traces WHERE tbl = 'messages')`)
	if err != nil {
		return err
	}
	_, err = r.c.exec(ctx, `UPDATE sessions SET started_at = COALESCE((SELECT MIN(`+numeric+`) FROM messages WHERE session_id = sessions.id), 0)
 WHERE started_at = 0 AND rowid IN (SELECT id FROM temp.traces WHERE tbl = 'sessions')`)
	return err
}

// addPlaceholders makes sessions for messages whose own is lost. One that others
// came from is marked as branched, so that those do not pass for delegates, which
// no list shows.
func (r *recovery) addPlaceholders(ctx context.Context) error {
	rows, err := r.c.query(ctx, `INSERT INTO sessions (id, source, started_at, end_reason)
 SELECT m.session_id, '`+lostSession+`', COALESCE(MIN(`+numeric+`), 0),
  CASE WHEN EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = m.session_id) THEN 'branched' END
 FROM messages m WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id)
 GROUP BY m.session_id RETURNING id`)
	if err != nil {
		return err
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		r.Placeholders = append(r.Placeholders, id)
	}
	slices.Sort(r.Placeholders)
	r.table("sessions").Rows += int64(len(r.Placeholders))
	return rows.Err()
}

// maxTitle is how many characters a title may have.
const maxTitle = 100

// mendTitles numbers titles that are taken twice; the first session keeps its
// own.
func (r *recovery) mendTitles(ctx context.Context) error {
	if r.table("sessions").column("title") < 0 {
		return nil
	}
	rows, err := r.c.query(ctx, `SELECT rowid, id, title FROM (SELECT rowid, id, title, ROW_NUMBER() OVER (PARTITION BY title ORDER BY rowid) AS n
 FROM sessions WHERE title IS NOT NULL) WHERE n > 1 ORDER BY rowid`)
	if err != nil {
		return err
	}
	type taken struct {
		row       int64
		id, title string
	}
	var all []taken
	for rows.Next() {
		var t taken
		if err := rows.Scan(&t.row, &t.id, &t.title); err != nil {
			return err
		}
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, t := range all {
		if err := r.retitle(ctx, t.row, t.title); err != nil {
			return err
		}
		r.Retitled = append(r.Retitled, t.id)
	}
	return nil
}

func (r *recovery) retitle(ctx context.Context, row int64, title string) error {
	for n := 2; ; n++ {
		number := fmt.Sprintf(" #%d", n)
		base := []rune(title)
		next := string(base[:min(len(base), maxTitle-len(number))]) + number
		err := r.c.queryRow(ctx, []any{new(int)}, "SELECT 1 FROM sessions WHERE title = ?", next)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = r.c.exec(ctx, "UPDATE sessions SET title = ? WHERE rowid = ?", next, row)
			return err
		}
		if err != nil {
			return err
		}
	}
}

// mendCounters recounts sessions that count more messages than there are, or
// whose row was not whole. Where nothing was lost counters stay as they are.
func (r *recovery) mendCounters(ctx context.Context) error {
	if r.newer() || !r.table("messages").damaged && !r.table("sessions").damaged && len(r.Placeholders) == 0 {
		return nil
	}
	_, err := r.c.exec(ctx, `UPDATE sessions SET message_count = COALESCE(c.n, 0), tool_call_count = COALESCE(c.calls, 0)
 FROM (SELECT s.rowid AS row, n, calls FROM sessions s LEFT JOIN (SELECT session_id, COUNT(*) AS n,
   SUM(CASE WHEN json_valid(tool_calls) THEN CASE json_type(tool_calls) WHEN 'array' THEN json_array_length(tool_calls) ELSE 1 END ELSE 0 END) AS calls
   FROM messages GROUP BY session_id) ON session_id = s.id
  WHERE s.message_count > COALESCE(n, 0) OR s.source = ? OR s.rowid IN (SELECT id FROM temp.traces WHERE tbl = 'sessions')) c
 WHERE sessions.rowid = c.row`, lostSession)
	return err
}

// mendSequence sees to it that no id of a message is given twice, also not that
// of one that is lost.
func (r *recovery) mendSequence(ctx context.Context) error {
	for _, o := range r.objects {
		if o.Name != "sqlite_sequence" || o.Root == 0 {
			continue
		}
		_, err := r.src.Table(o.Root, func(row sqlitefile.Row) error {
			if len(row.Values) < 2 {
				return nil
			}
			return r.raiseSequence(ctx, row.Values[0], row.Values[1])
		})
		if err != nil {
			return err
		}
	}
	var last int64
	if err := r.c.queryRow(ctx, []any{&last}, "SELECT COALESCE(MAX(id), 0) FROM temp.traces WHERE tbl = 'messages'"); err != nil {
		return err
	}
	return r.raiseSequence(ctx, "messages", last)
}

func (r *recovery) raiseSequence(ctx context.Context, table, last any) error {
	n, ok := last.(int64)
	name, _ := table.(string)
	if !ok || n <= 0 || r.table(name) == nil {
		return nil
	}
	changed, err := r.c.exec(ctx, "UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = ?", n, name)
	if err == nil && changed == 0 {
		_, err = r.c.exec(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, n)
	}
	return err
}
