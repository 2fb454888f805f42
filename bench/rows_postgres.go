package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// onSchema is the connection string of a schema of the server.
func (c config) onSchema(name string) (string, error) {
	u, err := url.Parse(c.Postgres)
	if err != nil || u.Scheme == "" {
		return "", errors.New("-postgres must be a URL")
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// setUpServer prepares for the rows of PostgreSQL alone.
func setUpServer(ctx context.Context, c config) (_ *env, err error) {
	e := &env{config: c}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if e.module, err = output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/sessiondb-go/sessiondb"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	if e.tmp, err = os.MkdirTemp(c.Dir, "run-"); err != nil {
		return nil, err
	}
	e.messages = filepath.Join(e.tmp, "messages")
	if err := writeMessages(e.messages, corpus.Messages(7, c.Appends)); err != nil {
		return nil, err
	}
	searched, err := e.onSchema(searchedSchema)
	if err != nil {
		return nil, err
	}
	if err := corpus.OnServer(ctx, searched, c.Server, 1, c.say); err != nil {
		return nil, err
	}
	return e, e.readServer(ctx)
}

const searchedSchema = "sessiondb_bench_search"

func postgresRows(e *env) []row {
	return []row{e.serverAppendRow(), e.serverClientsRow(), e.serverSearchRow()}
}

// onFreshSchema runs fn on an empty store on the server with sessions to append to.
func (e *env) onFreshSchema(fn func(ctx context.Context, dsn string) (outcome, error)) func(context.Context) (outcome, error) {
	return func(ctx context.Context) (outcome, error) {
		const schema = "sessiondb_bench_append"
		conn, err := pgx.Connect(ctx, e.Postgres)
		if err != nil {
			return outcome{}, err
		}
		defer func() { _ = conn.Close(ctx) }()
		drop := func() error {
			_, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+schema+` CASCADE`)
			return err
		}
		if err := drop(); err != nil {
			return outcome{}, err
		}
		dsn, err := e.onSchema(schema)
		if err != nil {
			return outcome{}, err
		}
		if err := createSessions(ctx, dsn); err != nil {
			return outcome{}, err
		}
		o, err := fn(ctx, dsn)
		return o, errors.Join(err, drop())
	}
}

// createSessions makes a store with a session for each client of clientsRow.
func createSessions(ctx context.Context, store string) error {
	db, err := openAny(ctx, store)
	if err != nil {
		return err
	}
	for k := range clientProcesses {
		for j := range clientsEach {
			if _, err := db.CreateSession(ctx, sessiondb.NewSession{ID: clientSession(clientName(k), j), Source: "cli"}); err != nil {
				return errors.Join(err, db.Close())
			}
		}
	}
	return db.Close()
}

func (e *env) serverAppendRow() row {
	session := clientSession(clientName(0), 0)
	ours := func(ctx context.Context, dsn string) (outcome, error) {
		a, err := appendOneByOne(ctx, dsn, e.messages, session)
		return seconds(a.Seconds), err
	}
	base := func(ctx context.Context, dsn string) (outcome, error) {
		s, err := appendBarePostgres(ctx, dsn, e.messages, session)
		return seconds(s), err
	}
	return row{
		name: "PostgreSQL: append, one client, against a bare INSERT and UPDATE", data: fmt.Sprintf("%d messages, new store", e.Appends),
		sides:  []side{{"ours", e.onFreshSchema(ours)}, {"bare", e.onFreshSchema(base)}},
		checks: []check{{"", "ours.s", "bare.s", inSeconds, ratioAtMost, 1.3}},
	}
}

// appendBarePostgres adds messages through pgx, a transaction each: the row and the
// counters, in the tables of a store. Its triggers are gone, and the terms of the
// search are not made.
func appendBarePostgres(ctx context.Context, dsn, messages, session string) (float64, error) {
	fields, err := readFields(messages)
	if err != nil {
		return 0, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `ALTER TABLE messages DISABLE TRIGGER USER`); err != nil {
		return 0, err
	}
	start := time.Now()
	for ; len(fields) > 0; fields = fields[fieldsOfMessage:] {
		args := append(fields[:fieldsOfMessage:fieldsOfMessage], session, float64(time.Now().UnixMicro())/1e6)
		if s, ok := args[1].(string); ok {
			args[1] = corpus.ServerText(s)
		}
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO messages (role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, session_id, timestamp)
 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, args...)
			if err == nil {
				_, err = tx.Exec(ctx, `UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + $2 WHERE id = $1`, session, 0)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), nil
}

const (
	clientProcesses = 8
	clientsEach     = 8
)

// clientName is what the sessions of the clients of a process begin with.
func clientName(k int) string { return fmt.Sprintf("%s-%d", appendTo, k) }

func (e *env) serverClientsRow() row {
	base := func(ctx context.Context) (outcome, error) {
		store, remove, err := e.fresh(ctx)
		if remove != nil {
			defer remove()
		}
		if err == nil {
			err = createSessions(ctx, store)
		}
		if err != nil {
			return outcome{}, err
		}
		return e.crowd(ctx, store)
	}
	return row{
		name:  fmt.Sprintf("PostgreSQL: append, %d clients over %d processes, against a file", clientProcesses*clientsEach, clientProcesses),
		data:  fmt.Sprintf("%d messages, new store", clientProcesses*e.Appends),
		sides: []side{{"ours", e.onFreshSchema(e.crowd)}, {"file", base}},
		checks: []check{
			{"messages a second", "ours.rate", "file.rate", plain, ratioAtLeast, 5},
			{"messages lost", "ours.lost", "", plain, atMost, 0},
		},
	}
}

// crowd appends from all processes at once and counts what arrived.
func (e *env) crowd(ctx context.Context, store string) (outcome, error) {
	var all [clientProcesses]appended
	var errs [clientProcesses]error
	var wg sync.WaitGroup
	for k := range clientProcesses {
		wg.Go(func() {
			s, err := spawn(ctx, true, e.self, "worker", "clients", store, e.messages, clientName(k))
			if err == nil {
				err = json.Unmarshal(s.stdout, &all[k])
			}
			errs[k] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return outcome{}, err
	}
	begin, end := math.Inf(1), 0.0
	for _, a := range all {
		begin, end = min(begin, a.Begin), max(end, a.Begin+a.Seconds)
	}
	db, err := openAny(ctx, store)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = db.Close() }()
	sent := float64(clientProcesses * e.Appends)
	n, err := db.MessageCount(ctx, "")
	return outcome{figures: map[string]float64{"rate": sent / (end - begin), "lost": math.Abs(sent - float64(n))}}, err
}

func (e *env) serverSearchRow() row {
	dsn, err := e.onSchema(searchedSchema)
	ours := func(ctx context.Context) (outcome, error) {
		if err != nil {
			return outcome{}, err
		}
		db, err := postgres.Open(ctx, dsn, postgres.Options{ReadOnly: true})
		if err != nil {
			return outcome{}, err
		}
		defer func() { _ = db.Close() }()
		var n int
		s, err := timed(9, func() error {
			r, err := db.Search(ctx, sessiondb.SearchQuery{Text: corpus.TwoWords})
			n = len(r.Hits)
			return err
		})
		o := seconds(s)
		o.answer = fmt.Sprint(n, " hits")
		return o, err
	}
	base := func(ctx context.Context) (outcome, error) {
		if err != nil {
			return outcome{}, err
		}
		return searchBarePostgres(ctx, dsn)
	}
	return row{
		name: "PostgreSQL: two words, 20 hits with context, by rank, against the bare query", data: describe(e.Server),
		sides:  []side{{"ours", ours}, {"bare", base}},
		checks: []check{{"", "ours.s", "bare.s", inSeconds, ratioAtMost, 2}},
	}
}

// searchBarePostgres asks the index of the store for the ids of the best hits, with
// what the store sets for its connections.
func searchBarePostgres(ctx context.Context, dsn string) (o outcome, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return o, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `SET jit = off; SET random_page_cost = 1.1`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return o, err
	}
	n := 0
	s, err := timed(9, func() error {
		rows, err := conn.Query(ctx, `SELECT message_id FROM sessiondb_terms WHERE words @@ $1::text::tsquery
 ORDER BY ts_rank(words, $1::text::tsquery, 1) DESC, message_id DESC LIMIT 20`, "'docker' & 'deployment'")
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		n = len(ids)
		return err
	})
	o = seconds(s)
	o.answer = fmt.Sprint(n, " hits")
	return o, err
}

// readServer notes what was measured, and on what.
func (e *env) readServer(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, e.Postgres)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var version, settings string
	err = conn.QueryRow(ctx, `SELECT split_part(current_setting('server_version'), ' ', 1), string_agg(name || ' ' || current_setting(name), ', ' ORDER BY name)
 FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size')`).Scan(&version, &settings)
	e.versions = append(e.versions, machine(), "sessiondb: "+runtime.Version()+", the client on the machine of the server", "PostgreSQL "+version+", "+settings)
	return err
}
