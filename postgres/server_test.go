package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// serverVariable names a server for the tests, by a connection string of a role
// that may create schemas.
const serverVariable = "SESSIONDB_POSTGRES"

// server is the connection string of the server of this run, empty without one.
var server string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run starts a server of its own unless one is named.
func run(m *testing.M) int {
	if server = os.Getenv(serverVariable); server != "" {
		return m.Run()
	}
	bin, err := findProgram("initdb")
	if errors.Is(err, exec.ErrNotFound) {
		if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(all) > 0 {
			bin, err = all[len(all)-1], nil
		}
	}
	if err != nil {
		return m.Run() // needServer says what is missing
	}
	dir, err := os.MkdirTemp("", "sessiondb-postgres")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stop, err := startServer(filepath.Dir(bin), dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

// startServer makes a cluster in dir that listens on a socket there alone.
func startServer(bin, dir string) (stop func(), err error) {
	as, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	command := func(name string, args ...string) error {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, as
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return nil
	}
	data, log := filepath.Join(dir, "data"), filepath.Join(dir, "log")
	if err := command("initdb", "--pgdata="+data, "--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, err
	}
	options := "-c listen_addresses='' -c unix_socket_directories='" + dir + "' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200"
	if err := command("pg_ctl", "--pgdata="+data, "--log="+log, "--wait", "--options="+options, "start"); err != nil {
		return nil, err
	}
	server = "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"test"}}.Encode()
	return func() {
		if err := command("pg_ctl", "--pgdata="+data, "--mode=immediate", "stop"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}, nil
}

// needServer skips a test where there is no server.
func needServer(t *testing.T) {
	t.Helper()
	if server == "" {
		t.Skip("no PostgreSQL: install the server (Debian: postgresql), or set " + serverVariable + " to a connection string")
	}
}

var schemas atomic.Int64

// newSchema names a schema for a test, which is dropped after it if the server
// stays.
func newSchema(t *testing.T) (dsn, schema string) {
	t.Helper()
	needServer(t)
	schema = fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	if os.Getenv(serverVariable) != "" {
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
 DELETE FROM sessiondb_orphans; DELETE FROM sessiondb_model_usage; DELETE FROM state_meta WHERE key NOT LIKE 'sessiondb%'`)
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
