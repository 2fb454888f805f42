package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// A query that fails on damaged pages is asked again of temporary tables, which
// stand in front of the real ones and hold what can be read: first of all but
// the messages, which are most of a store; if that was not enough, of the
// messages too. They live in the connection, which ends with the snapshot; the
// file is not touched.

// readPast is what one snapshot has put in front of its tables.
type readPast struct {
	c      *conn
	views  []string // what stood in front before, see viewsFor
	done   int      // steps
	loss   engine.Loss
	hidden map[string]bool // tables that something stands in front of
}

// Salvage implements [engine.Salvager].
func (t *readTx) Salvage(ctx context.Context) (engine.Loss, bool, error) {
	if t.salvage == nil {
		t.salvage = &readPast{c: t.c, views: t.views, hidden: map[string]bool{}}
		if err := t.salvage.begin(); err != nil {
			return engine.Loss{}, false, err
		}
	}
	more, err := t.salvage.next(ctx)
	return t.salvage.loss, more, err
}

// begin gets out of the transaction, within which SQLite refuses every write,
// also of temporary tables, once it met damage. A result that stays open keeps
// the snapshot.
func (s *readPast) begin() error {
	ctx := context.Background()
	s.c.closeRows()
	holder, err := s.c.query(ctx, "SELECT name FROM main.sqlite_master")
	if err != nil {
		return err
	}
	if !holder.Next() {
		return errors.Join(holder.Err(), sessiondb.ErrCorrupt)
	}
	if _, err := s.c.exec(ctx, "ROLLBACK"); err != nil {
		return err
	}
	return s.c.script(ctx, "PRAGMA query_only = 0; PRAGMA temp.journal_mode = OFF")
}

// next takes the next step.
func (s *readPast) next(ctx context.Context) (more bool, err error) {
	switch s.done++; s.done {
	case 1:
		err = s.small(ctx)
	case 2:
		err = s.messages(ctx)
	default:
		return false, nil
	}
	return err == nil, err
}

// small puts copies in front of every table of the store but messages.
func (s *readPast) small(ctx context.Context) error {
	for _, table := range []string{"sessions", "state_meta", "system_prompts", "sessiondb_orphans", "sessiondb_model_usage", "sessiondb_appends", "sessiondb_tags", "sessiondb_trash", "sessiondb_trash_sessions"} {
		columns, err := s.columns(ctx, table)
		if err != nil || len(columns) == 0 {
			if err != nil && !errors.Is(err, sessiondb.ErrCorrupt) {
				return err
			}
			continue
		}
		if err := s.copyTable(ctx, table, columns); err != nil {
			return err
		}
	}
	if !slices.Contains(s.loss.Tables, "sessions") {
		return nil
	}
	err := s.standIns(ctx)
	if errors.Is(err, sessiondb.ErrCorrupt) {
		if s.done++; s.done == 2 {
			return s.messages(ctx)
		}
	}
	return err
}

// columns are the names of a table's columns, none if it is not there.
func (s *readPast) columns(ctx context.Context, table string) (out []string, err error) {
	rows, err := s.c.query(ctx, "SELECT name FROM pragma_table_info(?, 'main')", table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, quoted(name))
	}
	return out, rows.Err()
}

// front is the name under which the salvaged rows of a table are made: its own,
// unless a view of that name shows it. That one then shows the salvaged rows.
func (s *readPast) front(table string) string {
	if slices.ContainsFunc(s.views, func(v string) bool { return strings.HasPrefix(v, "CREATE TEMP VIEW "+table+" ") }) {
		return "sessiondb_salvaged_" + table
	}
	return table
}

// copyTable puts a copy of the readable rows in front of a table.
func (s *readPast) copyTable(ctx context.Context, table string, columns []string) error {
	front := s.front(table)
	if err := s.c.script(ctx, "CREATE TEMP TABLE "+front+" AS SELECT * FROM main."+table+" WHERE 0"); err != nil {
		return err
	}
	list := strings.Join(columns, ", ")
	insert := "INSERT INTO temp." + front + " (rowid, " + list + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)+1), ", ") + ")"
	whole, err := readable(ctx, s.c, table, func(row []any) error {
		_, err := s.c.exec(context.Background(), insert, row...)
		return err
	})
	if err != nil {
		return err
	}
	if !whole {
		s.loss.Tables = append(s.loss.Tables, table)
	}
	if table == "sessions" {
		err = s.c.script(ctx, `CREATE INDEX temp.sessiondb_salvaged_id ON `+front+` (id);
CREATE INDEX temp.sessiondb_salvaged_parent ON `+front+` (parent_session_id);
CREATE INDEX temp.sessiondb_salvaged_start ON `+front+` (started_at, id)`)
		if err != nil {
			return err
		}
	}
	return s.show(ctx, table)
}

// show lets the views, which read the tables of the file, read what is in front
// of them.
func (s *readPast) show(ctx context.Context, table string) error {
	s.hidden[table] = true
	for _, v := range s.views {
		if !strings.Contains(v, "main."+table) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(v, "CREATE TEMP VIEW "), " ")
		for hidden := range s.hidden {
			v = strings.ReplaceAll(v, "main."+hidden, "temp."+s.front(hidden))
		}
		if err := s.c.script(ctx, "DROP VIEW temp."+name+"; "+v); err != nil {
			return err
		}
	}
	return nil
}

// messages puts a view in front of the messages, of those that can be read. It
// finds them by a table of their ids, and knows itself what a query picks
// messages by.
func (s *readPast) messages(ctx context.Context) error {
	columns, err := s.columns(ctx, "messages")
	if err != nil || len(columns) == 0 {
		return err
	}
	if err := s.c.script(ctx, "CREATE TEMP TABLE sessiondb_readable (id INTEGER PRIMARY KEY, session_id, timestamp)"); err != nil {
		return err
	}
	session, time := slices.Index(columns, `"session_id"`)+1, slices.Index(columns, `"timestamp"`)+1
	some := false
	whole, err := readable(ctx, s.c, "messages", func(row []any) error {
		some = true
		_, err := s.c.exec(context.Background(), "INSERT INTO temp.sessiondb_readable VALUES (?, ?, ?)", row[0], row[session], row[time])
		return err
	})
	if err != nil {
		return err
	}
	from := " FROM temp.sessiondb_readable r"
	if some {
		from += " CROSS JOIN main.messages AS m NOT INDEXED ON m.id = r.id"
	}
	for i, name := range columns {
		switch {
		case i+1 == session || i+1 == time || name == `"id"`:
			columns[i] = "r." + name
		case some:
			columns[i] = "m." + name
		default:
			columns[i] = "NULL AS " + name
		}
	}
	err = s.c.script(ctx, `CREATE INDEX temp.sessiondb_readable_session ON sessiondb_readable (session_id, timestamp);
CREATE INDEX temp.sessiondb_readable_time ON sessiondb_readable (timestamp, id, session_id);
CREATE TEMP VIEW `+s.front("messages")+` AS SELECT `+strings.Join(columns, ", ")+from)
	if err != nil {
		return err
	}
	if err := s.show(ctx, "messages"); err != nil {
		return err
	}
	if !whole {
		s.loss.Tables = append(s.loss.Tables, "messages")
		s.loss.Messages = s.lostMessages(ctx)
	}
	if slices.Contains(s.loss.Tables, "sessions") {
		return s.standIns(ctx)
	}
	return nil
}

// lostMessages asks the index of sessions which messages there should be.
func (s *readPast) lostMessages(ctx context.Context) map[string]int64 {
	lost := map[string]int64{}
	rows, err := s.c.query(ctx, `SELECT session_id, COUNT(*) FROM main.messages INDEXED BY idx_messages_session
 WHERE id NOT IN (SELECT id FROM temp.sessiondb_readable) GROUP BY session_id`)
	if err != nil {
		return nil
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		var n int64
		if rows.Scan(&id, &n) == nil {
			lost[id] = n
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return lost
}

// standIns makes a row for each session that lost its own and has messages.
func (s *readPast) standIns(ctx context.Context) error {
	source := "main.messages"
	if s.hidden["messages"] {
		source = "temp.sessiondb_readable"
	}
	front := "temp." + s.front("sessions")
	if len(s.loss.Sessions) > 0 {
		return nil
	}
	rows, err := s.c.query(ctx, `SELECT DISTINCT session_id FROM `+source+`
 WHERE session_id IS NOT NULL AND session_id NOT IN (SELECT id FROM `+front+` WHERE id IS NOT NULL)`)
	if err != nil {
		return err
	}
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err == nil {
			ids = append(ids, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, id := range ids {
		_, err := s.c.exec(ctx, `INSERT INTO `+front+` (id, source, started_at, message_count)
 SELECT ?1, 'unknown', MIN(timestamp), COUNT(*) FROM `+source+` WHERE session_id = ?1`, id)
		if err != nil {
			return err
		}
	}
	s.loss.Sessions = ids
	return nil
}
