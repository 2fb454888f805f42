package corpus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// serverStep is how many messages go to a server at a time.
const serverStep = 20_000

// doneKey is where a store on a server keeps which corpus it holds.
const doneKey = "bench_corpus"

// OnServer makes a store of size z on the server and in the schema that dsn names,
// unless it is there already. What lies in a schema that is half made is dropped.
//
// Rows are copied, and the store makes the terms of the search from them itself:
// the same as if they had been appended. Both indexes of terms are built at the
// end. Above copies 1, the messages are there several times, in sessions of other
// names and later times: for sizes whose terms would take hours to make.
func OnServer(ctx context.Context, dsn string, z Size, copies int, say func(string)) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	name := config.RuntimeParams["search_path"]
	if name == "" {
		return errors.New("the connection string has no search_path, which names the schema to fill")
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	l := &loading{conn: conn, schema: pgx.Identifier{name}.Sanitize(), say: say}
	want := fmt.Sprintf("%d sessions, %d messages, %d times, v%d", z.Sessions, z.Messages, copies, edition)
	var have string
	if err := conn.QueryRow(ctx, `SELECT value FROM `+l.schema+`.state_meta WHERE key = $1`, doneKey).Scan(&have); err == nil && have == want {
		return nil
	}
	say("making " + want)
	if err := l.exec(ctx, `DROP SCHEMA IF EXISTS `+l.schema+` CASCADE`); err != nil {
		return err
	}
	if l.db, err = postgres.Open(ctx, dsn, postgres.Options{}); err != nil {
		return err
	}
	defer func() { _ = l.db.Close() }()
	if err := l.fill(ctx, z, copies); err != nil {
		return err
	}
	if err := l.db.Vacuum(ctx); err != nil {
		return err
	}
	return l.exec(ctx, `INSERT INTO state_meta VALUES ('`+doneKey+`', '`+want+`')`)
}

// loading is a store on a server that is being filled.
type loading struct {
	conn   *pgx.Conn
	db     *sessiondb.DB
	schema string
	say    func(string)
}

func (l *loading) fill(ctx context.Context, z Size, copies int) error {
	if err := l.exec(ctx, `DROP INDEX sessiondb_terms_words, sessiondb_terms_grams`); err != nil {
		return err
	}
	sessions := plan(z, 42)
	if err := l.sessions(ctx, sessions); err != nil {
		return err
	}
	if err := l.messages(ctx, sessions); err != nil {
		return err
	}
	if err := l.indexed(ctx); err != nil { // what is copied next are the terms too
		return err
	}
	for k := 1; k < copies; k++ {
		l.say(fmt.Sprintf("  copy %d", k+1))
		if err := l.exec(ctx, again(k, z.Messages)...); err != nil {
			return err
		}
	}
	l.say("  indexes")
	return l.exec(ctx,
		`SELECT setval('messages_id_seq', (SELECT MAX(id) FROM messages))`,
		`CREATE INDEX sessiondb_terms_words ON sessiondb_terms USING gin (words)`,
		`CREATE INDEX sessiondb_terms_grams ON sessiondb_terms USING gin (grams)`)
}

// indexed waits until the store has made the terms of all messages.
func (l *loading) indexed(ctx context.Context) error {
	for waits := true; waits; {
		if err := l.conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM sessiondb_unindexed)`).Scan(&waits); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (l *loading) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := l.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	return nil
}

func (l *loading) sessions(ctx context.Context, sessions []*session) error {
	columns := []string{"id", "source", "user_id", "model", "parent_session_id", "started_at", "ended_at", "end_reason",
		"message_count", "tool_call_count", "title"}
	_, err := l.conn.CopyFrom(ctx, pgx.Identifier{"sessions"}, columns, pgx.CopyFromSlice(len(sessions), func(i int) ([]any, error) {
		s := sessions[i]
		return []any{s.id, s.source, fmt.Sprintf("u%d", s.index%7), s.model, s.parent, s.started, s.ended, s.reason, s.messages, s.calls, s.title}, nil
	}))
	return err
}

// messages copies them in the order of time. The triggers of the store note those
// that were copied, and the next append has the terms of all made.
func (l *loading) messages(ctx context.Context, sessions []*session) error {
	slots := inTime(sessions)
	w := newWriter()
	columns := []string{"session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "finish_reason", "reasoning"}
	for from := 0; from < len(slots); from += serverStep {
		part := slots[from:min(from+serverStep, len(slots))]
		last := part[len(part)-1]
		_, err := l.conn.CopyFrom(ctx, pgx.Identifier{"messages"}, columns, pgx.CopyFromSlice(len(part)-1, func(i int) ([]any, error) {
			at := part[i]
			m := w.message(at.s, at.i)
			return []any{at.s.id, m.Role, ServerText(m.Content), null(m.ToolCallID), null(m.ToolCalls), null(m.ToolName), at.time,
				null(m.FinishReason), null(m.Reasoning)}, nil
		}))
		if err != nil {
			return err
		}
		if err := l.append(ctx, last, w.message(last.s, last.i)); err != nil {
			return err
		}
		l.say(fmt.Sprintf("  %d of %d messages", from+len(part), len(slots)))
	}
	return nil
}

// append adds a message as a program does. Its session counts it already.
func (l *loading) append(ctx context.Context, at slot, m Message) error {
	out := m.Stored()
	out.Timestamp = time.UnixMicro(int64(at.time * 1e6))
	if _, err := l.db.AppendMessage(ctx, at.s.id, out); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, `UPDATE sessions SET message_count = $2, tool_call_count = $3 WHERE id = $1`, at.s.id, at.s.messages, at.s.calls)
	return err
}

// ServerText is content as a server holds it, which knows no NUL.
func ServerText(content string) any {
	if rest, ok := strings.CutPrefix(content, "\x00"); ok {
		return "\x01" + "0" + rest
	}
	return null(content)
}

// again are the statements that store all once more, for the time number k. The
// terms are those of the same texts, so that the triggers have nothing to do.
func again(k, messages int) []string {
	const sessionColumns = `source, user_id, model, started_at, ended_at, end_reason, message_count, tool_call_count`
	const messageColumns = `role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning`
	name, later := fmt.Sprintf(`|| '+%d'`, k), fmt.Sprintf(`+ %d`, k*int(span))
	moved := strings.NewReplacer("started_at", "started_at"+later, "ended_at", "ended_at"+later).Replace(sessionColumns)
	return []string{
		`ALTER TABLE messages DISABLE TRIGGER USER`,
		`INSERT INTO sessions (id, title, parent_session_id, ` + sessionColumns + `) SELECT id ` + name + `, title ` + name + `, parent_session_id ` + name + `, ` + moved +
			` FROM sessions WHERE id NOT LIKE '%+%' ORDER BY created`,
		fmt.Sprintf(`INSERT INTO messages (id, session_id, timestamp, `+messageColumns+`) SELECT id + %d, session_id `+name+`, timestamp `+later+`, `+messageColumns+
			` FROM messages WHERE id <= %d ORDER BY id`, k*messages, messages),
		fmt.Sprintf(`INSERT INTO sessiondb_terms SELECT message_id + %d, part, words, grams FROM sessiondb_terms WHERE message_id <= %d ORDER BY message_id, part`, k*messages, messages),
		`ALTER TABLE messages ENABLE TRIGGER USER`,
	}
}
