package main

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"time"

	driver "modernc.org/sqlite"
)

// bare is a connection of the driver and the documented statements, prepared:
// what the driver costs without anything of ours.
type bare struct {
	ctx                          context.Context
	conn                         sqldriver.Conn
	begin, insert, count, commit sqldriver.Stmt
}

func openBare(ctx context.Context, store string) (*bare, error) {
	_, _ = driver.Fdatasync(true) // as all sides do
	connector, err := driver.NewConnector("file:" + store +
		"?_busy_timeout=1000&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	b := &bare{ctx: ctx}
	if b.conn, err = connector.Connect(ctx); err != nil {
		return nil, err
	}
	for sql, s := range map[string]*sqldriver.Stmt{
		"BEGIN IMMEDIATE": &b.begin,
		"COMMIT":          &b.commit,
		"UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ? WHERE id = ?": &b.count,
		"INSERT INTO messages (role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, session_id, timestamp)" +
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)": &b.insert,
	} {
		if *s, err = b.conn.Prepare(sql); err != nil {
			_ = b.conn.Close()
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	return b, nil
}

// append adds a message, given by its fields, nil for NULL.
func (b *bare) append(session string, fields []any) error {
	now := float64(time.Now().UnixMicro()) / 1e6
	return inTurn(
		func() error { return b.run(b.begin) },
		func() error { return b.run(b.insert, append(fields[:len(fields):len(fields)], session, now)...) },
		func() error { return b.run(b.count, int64(0), session) },
		func() error { return b.run(b.commit) },
	)
}

// inTurn runs steps until one fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) run(s sqldriver.Stmt, args ...any) error {
	named := make([]sqldriver.NamedValue, len(args))
	for i, a := range args {
		named[i] = sqldriver.NamedValue{Ordinal: i + 1, Value: a}
	}
	_, err := s.(sqldriver.StmtExecContext).ExecContext(b.ctx, named)
	return err
}

func (b *bare) close() error {
	return inTurn(b.begin.Close, b.insert.Close, b.count.Close, b.commit.Close, b.conn.Close)
}

// appendBare is appendOneByOne with the driver alone.
func appendBare(ctx context.Context, store, messages, session string) (a appended, err error) {
	fields, err := readFields(messages)
	if err != nil {
		return a, err
	}
	b, err := openBare(ctx, store)
	if err != nil {
		return a, err
	}
	start := time.Now()
	for len(fields) > 0 {
		if err := b.append(session, fields[:fieldsOfMessage]); err != nil {
			return a, err
		}
		fields = fields[fieldsOfMessage:]
	}
	a.Seconds = time.Since(start).Seconds()
	return a, b.close()
}
