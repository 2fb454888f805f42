package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// Backup implements [engine.Maintenance]. It is a dump of the schema in the custom
// format, by pg_dump, which must be there: pg_restore puts it back. It is of one
// snapshot, and that is what is counted; it is read through before it has its name.
func (s *store) Backup(ctx context.Context, dst string) (out engine.Backup, err error) {
	if dst == "" || strings.ContainsRune(dst, 0) {
		return out, fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	}
	if _, err := os.Lstat(dst); err == nil {
		return out, fmt.Errorf("%s: %w", dst, fs.ErrExist)
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	program, err := findProgram("pg_dump")
	if err != nil {
		return out, err
	}
	part, err := os.CreateTemp(filepath.Dir(dst), "."+filepath.Base(dst)+".*.part")
	if err != nil {
		return out, unwritten(dst, err)
	}
	defer func() { _ = os.Remove(part.Name()) }()
	defer func() { _ = part.Close() }()
	err = s.Read(ctx, func(q engine.Queryer) error {
		var snapshot string
		if err := q.QueryRow(ctx, `SELECT pg_export_snapshot()`).Scan(&snapshot); err != nil {
			return err
		}
		err := q.QueryRow(ctx, `SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM messages)`).Scan(&out.Sessions, &out.Messages)
		if err != nil {
			return err
		}
		return s.dump(ctx, program, snapshot, serverOf(q.(*tx).conn), part)
	})
	if err == nil {
		err = part.Sync()
	}
	if err != nil {
		return out, unwritten(dst, err)
	}
	info, err := part.Stat()
	if err != nil {
		return out, err
	}
	held, err := verifyDump(ctx, part.Name())
	if err != nil {
		return out, err
	}
	if held.Sessions != out.Sessions || held.Messages != out.Messages {
		return out, fmt.Errorf("%w: the dump has %d sessions and %d messages, not %d and %d", sessiondb.ErrCorrupt, held.Sessions, held.Messages, out.Sessions, out.Messages)
	}
	out.Bytes, out.SchemaVersion = info.Size(), s.version
	return out, os.Link(part.Name(), dst) // unlike a rename, it never overwrites
}

// dump writes the schema, as a snapshot sees it, to a file.
func (s *store) dump(ctx context.Context, program, snapshot string, at pgconn.FallbackConfig, to *os.File) error {
	c := s.pool.Config().ConnConfig
	cmd := exec.CommandContext(ctx, program, "--format=custom", "--schema="+quotePattern(s.schema), "--snapshot="+snapshot, "--no-password",
		"--host="+at.Host, fmt.Sprintf("--port=%d", at.Port), "--username="+c.User, "--dbname="+c.Database) // #nosec G204 -- pg_dump, with what Open was given
	cmd.Env = append(append(os.Environ(), "LC_ALL=C", "PGPASSWORD="+c.Password), tlsEnvironment(s.dsn)...) // what it says is looked at
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = to, &told
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(strings.ToLower(told.String()), syscall.ENOSPC.Error()):
		return syscall.ENOSPC
	}
	return fmt.Errorf("pg_dump: %w: %s", err, strings.TrimSpace(told.String()))
}

// unwritten is the error of a file that was not made, by its name and not by that of
// the one that was to become it.
func unwritten(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("%s: %w", path, e.Err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %s: %w", sessiondb.ErrFull, path, syscall.ENOSPC)
	}
	return err
}

// serverOf is the server of several that a connection leads to: the snapshot is known
// there alone.
func serverOf(c *pgx.Conn) pgconn.FallbackConfig {
	config := c.Config()
	first := pgconn.FallbackConfig{Host: config.Host, Port: config.Port}
	at := c.PgConn().Conn().RemoteAddr()
	for _, f := range config.Fallbacks {
		if isAt(&first, at) {
			break
		}
		if isAt(f, at) {
			return *f
		}
	}
	return first
}

// isAt says whether a server may have an address.
func isAt(f *pgconn.FallbackConfig, at net.Addr) bool {
	if network, address := pgconn.NetworkAddress(f.Host, f.Port); network == "unix" {
		return at.Network() == "unix" && at.String() == address
	}
	tcp, ok := at.(*net.TCPAddr)
	if !ok || tcp.Port != int(f.Port) {
		return false
	}
	ips, err := net.LookupIP(f.Host)
	return err != nil || slices.ContainsFunc(ips, tcp.IP.Equal)
}

// quotePattern is a name that pg_dump takes as it is, not as a pattern.
func quotePattern(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// findProgram finds a program of PostgreSQL: in the path, or where Debian keeps
// those of each release, the newest first.
func findProgram(name string) (string, error) {
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(all) > 0 {
		return all[len(all)-1], nil
	}
	return "", fmt.Errorf("%w: %s is not installed here: it is in the package postgresql-client", exec.ErrNotFound, name)
}

var tlsParameter = text.Regexp(`\b(sslmode|sslrootcert|sslcert|sslkey)\s*=\s*'?([^\s'&]+)`)

// tlsEnvironment hands on what a connection string says about TLS.
func tlsEnvironment(dsn string) (env []string) {
	for _, m := range tlsParameter().FindAllStringSubmatch(dsn, -1) {
		env = append(env, "PG"+strings.ToUpper(m[1])+"="+m[2])
	}
	return env
}
