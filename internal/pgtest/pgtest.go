// Package pgtest starts a PostgreSQL server for tests.
package pgtest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable names a server for tests, by a connection string of a role that may
// create schemas.
const Variable = "SESSIONDB_POSTGRES"

// Missing is why tests are skipped, and how to run them.
const Missing = "no PostgreSQL: install the server (Debian: postgresql), or set " + Variable + " to a connection string"

// Start returns the connection string of the server that Variable names, else of
// one that it starts from what is installed, with its data in a temporary folder;
// stop ends that. Without either the connection string is empty.
func Start() (dsn string, stop func(), err error) {
	stop = func() {}
	if dsn = os.Getenv(Variable); dsn != "" {
		return dsn, stop, nil
	}
	bin := programs()
	if bin == "" {
		return "", stop, nil
	}
	dir, err := os.MkdirTemp("", "sessiondb-postgres")
	if err != nil {
		return "", stop, err
	}
	dsn, end, err := startServer(bin, dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", stop, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return dsn, func() {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		_ = os.RemoveAll(dir)
	}, nil
}

// programs is the folder of the server's programs: in the path, or where Debian
// keeps those of each release, the newest first.
func programs() string {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p)
	}
	if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(all) > 0 {
		return filepath.Dir(all[len(all)-1])
	}
	return ""
}

// startServer makes a cluster in dir that listens on a socket there alone.
func startServer(bin, dir string) (dsn string, stop func() error, err error) {
	as, err := unprivileged(dir)
	if err != nil {
		return "", nil, err
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
		return "", nil, err
	}
	options := "-c listen_addresses='' -c unix_socket_directories='" + dir + "' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200"
	if err := command("pg_ctl", "--pgdata="+data, "--log="+log, "--wait", "--options="+options, "start"); err != nil {
		return "", nil, err
	}
	dsn = "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"test"}}.Encode()
	return dsn, func() error { return command("pg_ctl", "--pgdata="+data, "--mode=immediate", "stop") }, nil
}
