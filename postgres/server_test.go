package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sessiondb-go/sessiondb/internal/pgtest"
)

// server is the connection string of the server of this run, empty without one.
var server string

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerVariable); dsn != "" {
		os.Exit(work(dsn))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dsn, stop, err := pgtest.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	server = dsn
	return m.Run()
}

// needServer skips a test where there is no server.
func needServer(t *testing.T) {
	t.Helper()
	if server == "" {
		t.Skip(pgtest.Missing)
	}
}

var schemas atomic.Int64

// newSchema names a schema for a test, which is dropped after it if the server
// stays.
func newSchema(t *testing.T) (dsn, schema string) {
	t.Helper()
	needServer(t)
	schema = fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	if os.Getenv(pgtest.Variable) != "" {
		t.Cleanup(func() { execute(t, `DROP SCHEMA IF EXISTS `+schema+` CASCADE`) })
	}
	return withSchema(t, schema), schema
}

// emptied are schemas of stores that are no longer used, without rows. To empty
// one takes a fraction of the time of making one.
var emptied []string

// usedSchema is newSchema that may have the tables of a store, without rows.
func usedSchema(t *testing.T) (dsn string) {
	t.Helper()
	needServer(t)
	schema := ""
	if n := len(emptied); n > 0 {
		schema, emptied = emptied[n-1], emptied[:n-1]
	} else {
		schema = fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	}
	t.Cleanup(func() {
		execute(t, `SET search_path = `+schema+`; DELETE FROM messages; DELETE FROM sessions; DELETE FROM sessiondb_odd;
 DELETE FROM sessiondb_orphans; DELETE FROM sessiondb_model_usage; DELETE FROM sessiondb_appends; DELETE FROM sessiondb_tags; DELETE FROM sessiondb_trash_tags; DELETE FROM sessiondb_trash; DELETE FROM sessiondb_trash_sessions;
 DELETE FROM sessiondb_trash_messages; DELETE FROM sessiondb_trash_orphans; DELETE FROM sessiondb_trash_model_usage; DELETE FROM state_meta WHERE key NOT LIKE 'sessiondb%' OR key = 'sessiondb_copy' OR key LIKE 'sessiondb_import:%'`)
		emptied = append(emptied, schema)
	})
	return withSchema(t, schema)
}

// dropEmptied removes them from a server that stays.
func dropEmptied(t *testing.T) {
	t.Helper()
	for _, schema := range emptied {
		execute(t, `DROP SCHEMA `+schema+` CASCADE`)
	}
	emptied = nil
}

// withSchema is a connection string for a schema.
func withSchema(t *testing.T, schema string) string {
	t.Helper()
	if !strings.Contains(server, "://") {
		return server + " search_path=" + schema
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// execute runs statements on the server.
func execute(t *testing.T, sql string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), server)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(context.Background(), "SET client_min_messages = warning; "+sql); err != nil {
		t.Error(err)
	}
}
