package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	driver "modernc.org/sqlite"
)

// busyTimeout is how long SQLite itself waits for a lock, in milliseconds.
const busyTimeout = 1000

// walLimit is the size, in bytes, that the write-ahead log shrinks to when it
// starts over.
const walLimit = 4 << 20

// cacheKiB bounds the pages that a connection keeps. A search by rank reads the
// length of every message that matches: those of a large store fit.
const cacheKiB = 16 << 10

// A connection for reading begins with room for fewer pages. Most programs ask
// once and end, and memory that is touched for the first time costs them more
// than to read a page twice. After its first use, or after many statements, it
// keeps as many as others.
const (
	firstCacheKiB = 512
	manyStmts     = 64
)

// leanCacheKiB is what two connections keep that read a whole store together.
const leanCacheKiB = 2 << 10

// pragmas hold on every connection. synchronous is set, never inherited: an
// acknowledged write survives power loss.
var pragmas = []string{
	"foreign_keys(1)",
	"synchronous(FULL)",
	"journal_size_limit(" + strconv.Itoa(walLimit) + ")",
}

// maxStmts bounds the prepared statements that a connection keeps.
const maxStmts = 200

// conn is one connection and its prepared statements. One goroutine uses it at
// a time. It speaks to the driver directly: database/sql would start a
// goroutine and take locks for every statement.
type conn struct {
	raw   sqldriver.Conn
	stmts map[string]*stmt
	tick  uint64
	small bool                   // the cache is: see firstCacheKiB
	lean  bool                   // it stays small: see keepLess
	args  []sqldriver.NamedValue // reused by every call
	open  []*rows                // results that are being read
	saw   bool                   // a result was read, or its end, since a read began

	forgiving bool // of damage, see access
}

// stmt is a prepared statement. A query that runs inside its own result gets a
// second one, which is not kept.
type stmt struct {
	raw  sqldriver.Stmt
	used uint64
	busy bool
	kept bool
}

// access is how a connection may touch the file.
type access struct {
	mode      string // SQLite's mode: ro, rw or rwc
	forgiving bool   // read a file that is shorter than it says, or whose schema has faults
	immutable bool   // no locks and no log: the file is known not to change
	// readonlyShm leaves the shared memory of the log as it is. Where nobody has
	// it open, SQLite reads the log into memory of its own.
	readonlyShm bool
	modeOf      string   // a file whose permissions a new database gets
	vfs         string   // SQLite's file system layer, the default when empty
	busy        int      // milliseconds to wait for a lock, 0 means busyTimeout
	pragmas     []string // after those that every connection has
	exclusive   bool     // keep the file locked: a log then needs no shared memory
	small       bool     // begins with a small cache
}

// allPragmas are those of a connection.
func (a access) allPragmas() []string {
	if a.exclusive {
		// The driver sorts them, and others read the file, with the log.
		return []string{"locking_mode(EXCLUSIVE)", "synchronous(FULL)"}
	}
	cache := cacheKiB
	if a.small {
		cache = firstCacheKiB
	}
	return slices.Concat(pragmas, []string{"cache_size(-" + strconv.Itoa(cache) + ")"}, a.pragmas)
}

// dsn is the URI that opens path.
func dsn(path string, a access) string {
	if a.busy == 0 {
		a.busy = busyTimeout
	}
	// With _error_rc an error has no text that the connection has of another call.
	q := url.Values{"mode": {a.mode}, "_busy_timeout": {strconv.Itoa(a.busy)}, "_pragma": a.allPragmas(), "_error_rc": {"1"}}
	if a.forgiving {
		q.Del("_pragma") // they would fail, and the driver sorts them
	}
	if a.immutable {
		q.Set("immutable", "1")
	}
	if a.readonlyShm {
		q.Set("readonly_shm", "1")
	}
	if a.modeOf != "" {
		q.Set("modeof", a.modeOf)
	}
	if a.vfs != "" {
		q.Set("vfs", a.vfs)
	}
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		p = "/" + p
	}
	// SQLite takes a plus sign for one.
	query := strings.ReplaceAll(q.Encode(), "+", "%20")
	return (&url.URL{Scheme: "file", OmitHost: true, Path: p, RawQuery: query}).String()
}

// syncData makes commits wait for the data and not for the timestamps of the
// file, as SQLite does in the builds of every Linux distribution. A commit is
// as durable and takes about half the time. The switch is the process's;
// where there is none, nothing changes.
var syncData = sync.OnceFunc(func() { _, _ = driver.Fdatasync(true) })

func openConn(ctx context.Context, path string, a access) (*conn, error) {
	syncData()
	connector, err := driver.NewConnector(dsn(path, a))
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, mapError(ctx, err)
	}
	c := &conn{raw: raw, stmts: map[string]*stmt{}, small: a.small, forgiving: a.forgiving}
	if !a.forgiving {
		return c, nil
	}
	// This is what lets SQLite read on. The connection is one for reading.
	if err := c.script(ctx, "PRAGMA writable_schema = 1"); err != nil {
		_ = c.close()
		return nil, err
	}
	return c, nil
}

// keepMore gives a connection that began with a small cache the full one.
func (c *conn) keepMore() {
	if c.small {
		c.small, c.lean = false, false
		_ = c.script(context.Background(), "PRAGMA cache_size = -"+strconv.Itoa(cacheKiB))
	}
}

// keepLess gives a connection less room, for a transaction that reads each page
// once, or a few times in a row.
func (c *conn) keepLess() error {
	c.small, c.lean = true, true
	return c.script(context.Background(), "PRAGMA cache_size = -"+strconv.Itoa(leanCacheKiB))
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.raw.Close()
	}
	c.stmts = nil
	return c.raw.Close()
}

// prepare finds or makes the statement of a query.
func (c *conn) prepare(ctx context.Context, query string) (*stmt, error) {
	if c.tick >= manyStmts && !c.lean {
		c.keepMore()
	}
	s := c.stmts[query]
	if s != nil && !s.busy {
		c.tick++
		s.used = c.tick
		return s, nil
	}
	raw, err := c.raw.(sqldriver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, mapError(ctx, err)
	}
	c.tick++
	n := &stmt{raw: raw, used: c.tick}
	if s == nil {
		c.evict()
		n.kept = true
		c.stmts[query] = n
	}
	return n, nil
}

// evict makes room for one statement more.
func (c *conn) evict() {
	if len(c.stmts) < maxStmts {
		return
	}
	oldest := ""
	for q, s := range c.stmts {
		if !s.busy && (oldest == "" || s.used < c.stmts[oldest].used) {
			oldest = q
		}
	}
	if s := c.stmts[oldest]; s != nil {
		_ = s.raw.Close()
		delete(c.stmts, oldest)
	}
}

func (s *stmt) release() {
	s.busy = false
	if !s.kept {
		_ = s.raw.Close()
	}
}

// bind makes the driver's form of parameters, valid until the next call.
func (c *conn) bind(args []any) ([]sqldriver.NamedValue, error) {
	c.args = c.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case nil, string, int64, float64, []byte, bool:
		case int:
			a = int64(v)
		default:
			var err error
			if a, err = sqldriver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return nil, err
			}
		}
		c.args = append(c.args, sqldriver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args, nil
}

// exec runs a statement and returns the number of rows changed.
func (c *conn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	s.busy = true
	defer s.release()
	named, err := c.bind(args)
	if err != nil {
		return 0, err
	}
	r, err := s.raw.(sqldriver.StmtExecContext).ExecContext(ctx, named)
	if err != nil {
		return 0, mapError(ctx, err)
	}
	return r.RowsAffected()
}

// script runs several statements that have no parameters. They are not kept.
func (c *conn) script(ctx context.Context, sql string) error {
	_, err := c.raw.(sqldriver.ExecerContext).ExecContext(ctx, sql, nil)
	return mapError(ctx, err)
}

// query starts reading a result. A context that can be cancelled costs a
// goroutine in the driver, so short statements are better off without.
func (c *conn) query(ctx context.Context, query string, args ...any) (*rows, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	named, err := c.bind(args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	raw, err := s.raw.(sqldriver.StmtQueryContext).QueryContext(ctx, named)
	if err != nil {
		s.release()
		return nil, mapError(ctx, err)
	}
	r := &rows{raw: raw, stmt: s, conn: c, ctx: ctx}
	c.open = append(c.open, r)
	return r, nil
}

// queryRow reads one row into dest; none is sql.ErrNoRows.
func (c *conn) queryRow(ctx context.Context, dest []any, query string, args ...any) error {
	r, err := c.query(ctx, query, args...)
	return row{r, err}.Scan(dest...)
}

// closeRows ends the results that were left open.
func (c *conn) closeRows() {
	for len(c.open) > 0 {
		_ = c.open[len(c.open)-1].Close()
	}
}
