// Package pgtest starts a PostgreSQL server for tests.
package pgtest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real // not all of them need have a link
		}
		return filepath.Dir(p)
	}
	if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(all) > 0 {
		return filepath.Dir(all[len(all)-1])
	}
	return ""
}

// startServer makes a cluster in dir that listens on a socket there alone.
func startServer(bin, dir string) (dsn string, stop func() error, err error) {
	c, err := newCluster(bin, dir)
	if err != nil {
		return "", nil, err
	}
	if err := c.init(); err != nil {
		return "", nil, err
	}
	if err := c.start("-c fsync=off -c synchronous_commit=off -c full_page_writes=off"); err != nil {
		return "", nil, err
	}
	return dsnOf(dir), c.stop, nil
}

// cluster is a server with its data.
type cluster struct {
	bin, dir string
	as       *syscall.SysProcAttr
}

func newCluster(bin, dir string) (*cluster, error) {
	as, err := unprivileged(dir)
	return &cluster{bin, dir, as}, err
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// run runs one of the server's programs.
func (c *cluster) run(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = c.dir, c.as
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

func (c *cluster) init() error {
	return c.run("initdb", "--pgdata="+c.data(), "--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
}

func (c *cluster) start(options string) error {
	options = "-c listen_addresses='' -c unix_socket_directories='" + c.dir + "' -c max_connections=200 " + options
	return c.run("pg_ctl", "--pgdata="+c.data(), "--log="+filepath.Join(c.dir, "log"), "--wait", "--options="+options, "start")
}

func (c *cluster) stop() error {
	return c.run("pg_ctl", "--pgdata="+c.data(), "--mode=immediate", "stop")
}

// dsnOf is the connection string of servers by their folders.
func dsnOf(dirs ...string) string {
	return "postgres:///postgres?" + url.Values{"host": {strings.Join(dirs, ",")}, "user": {"test"}}.Encode()
}
