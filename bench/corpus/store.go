package corpus

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/sessiondb-go/sessiondb/sqlite"
)

// edition changes when the same seed makes other bytes.
const edition = 1

// Store returns the path of a store of size z in the folder dir, and makes it
// when it is not there yet. What is made once is kept for the next run.
func Store(ctx context.Context, dir string, z Size, say func(string)) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%s-%d-%d-v%d.db", z.Name, z.Sessions, z.Messages, edition))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	making := path + ".making"
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(making + suffix)
	}
	say(fmt.Sprintf("making the %s store: %d sessions, %d messages", z.Name, z.Sessions, z.Messages))
	db, err := sqlite.Open(ctx, making, sqlite.Options{})
	if err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	if err := fill(ctx, making, plan(z, 42), say); err != nil {
		return "", err
	}
	return path, os.Rename(making, path)
}

// fill writes the sessions and their messages with plain SQL; the triggers of
// the store fill its indexes.
func fill(ctx context.Context, path string, sessions []*session, say func(string)) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"journal_mode=MEMORY", "synchronous=OFF", "cache_size=-262144", "foreign_keys=ON"} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	if err := inTx(ctx, db, func(tx *sql.Tx) error { return insertSessions(ctx, tx, sessions) }); err != nil {
		return err
	}
	if err := inTx(ctx, db, func(tx *sql.Tx) error { return insertMessages(ctx, tx, sessions, say) }); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	return err
}

func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func insertSessions(ctx context.Context, tx *sql.Tx, sessions []*session) error {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, parent_session_id,
 started_at, ended_at, end_reason, message_count, tool_call_count, input_tokens, output_tokens, estimated_cost_usd, title, api_call_count)
 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		_, err := stmt.ExecContext(ctx, s.id, s.source, fmt.Sprintf("u%d", s.index%7), s.model, `{"temperature":0.7}`,
			"You are a helpful agent working in "+s.topic[0]+".", s.parent, s.started, s.ended, s.reason, s.messages, s.calls,
			s.messages*900, s.messages*120, float64(s.messages)*0.003, s.title, s.messages/2)
		if err != nil {
			return err
		}
	}
	return nil
}

// slot is the place of a message among all.
type slot struct {
	time float64
	s    *session
	i    int
}

// inTime lists the messages in the order of time, as they would have come in:
// conversations that were held at once interleave.
func inTime(sessions []*session) (slots []slot) {
	for _, s := range sessions {
		for i := range s.messages {
			slots = append(slots, slot{s.started + float64(i)*s.pace, s, i})
		}
	}
	sort.SliceStable(slots, func(a, b int) bool { return slots[a].time < slots[b].time })
	return slots
}

func insertMessages(ctx context.Context, tx *sql.Tx, sessions []*session, say func(string)) error {
	slots := inTime(sessions)
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
 finish_reason, reasoning) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	w := newWriter()
	for n, at := range slots {
		m := w.message(at.s, at.i)
		_, err := stmt.ExecContext(ctx, at.s.id, m.Role, null(m.Content), null(m.ToolCallID), null(m.ToolCalls), null(m.ToolName), at.time,
			null(m.FinishReason), null(m.Reasoning))
		if err != nil {
			return err
		}
		if n > 0 && n%100_000 == 0 {
			say(fmt.Sprintf("  %d of %d messages", n, len(slots)))
		}
	}
	return nil
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
