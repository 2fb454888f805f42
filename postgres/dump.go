package postgres

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// VerifyDump reads a dump that [sessiondb.DB.Backup] made through, with pg_restore,
// which must be there, and tells what it holds. The size is not told. A file that is
// no dump of a store is [sessiondb.ErrNotStore], a damaged one
// [sessiondb.ErrCorrupt]; nothing is changed.
func VerifyDump(ctx context.Context, path string) (r sessiondb.BackupReport, err error) {
	held, err := verifyDump(ctx, path)
	if err != nil {
		return r, fmt.Errorf("verify: %w", err)
	}
	return sessiondb.BackupReport{SchemaVersion: held.SchemaVersion, Sessions: held.Sessions, Messages: held.Messages}, nil
}

// verifyDump has pg_restore turn the whole dump into SQL, and counts rows in that.
func verifyDump(ctx context.Context, path string) (held engine.Backup, err error) {
	program, err := findProgram("pg_restore")
	if err != nil {
		return held, err
	}
	cmd := exec.CommandContext(ctx, program, "--file=-", path) // #nosec G204 -- pg_restore, with a file that was named
	cmd.Env = append(os.Environ(), "LC_ALL=C")                 // what it says is looked at
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return held, err
	}
	if err := cmd.Start(); err != nil {
		return held, err
	}
	c := dumpCounter{rows: map[string]int64{}}
	readErr := c.read(out)
	err = cmd.Wait()
	says := strings.Join(strings.Fields(told.String()), " ")
	switch {
	case ctx.Err() != nil:
		return held, ctx.Err()
	case err != nil && (strings.Contains(says, "valid archive") || strings.Contains(says, "too short")):
		return held, fmt.Errorf("%w: %s", sessiondb.ErrNotStore, says)
	case err != nil:
		return held, fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, says)
	case readErr != nil:
		return held, readErr
	case !c.seen("sessions") || !c.seen("messages"):
		return held, fmt.Errorf("%w: the dump has no sessions and messages", sessiondb.ErrNotStore)
	}
	held.Sessions, held.Messages, held.SchemaVersion = c.rows["sessions"], c.rows["messages"], c.version
	return held, nil
}

// dumpCounter counts the rows of tables in SQL as pg_restore writes it.
type dumpCounter struct {
	rows    map[string]int64
	table   string // that the lines are of; empty between tables
	version int
}

var copyLine = text.Regexp(`^COPY (?:.*\.)?"?(\w+)"? \(.*\) FROM stdin;$`)

func (c *dumpCounter) seen(table string) bool {
	_, ok := c.rows[table]
	return ok
}

// read reads lines of any length: of each, the beginning tells.
func (c *dumpCounter) read(from io.Reader) error {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		line, rest, err := r.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.line(line)
		for rest && err == nil {
			_, rest, err = r.ReadLine()
		}
	}
}

func (c *dumpCounter) line(line []byte) {
	switch m := copyLine().FindSubmatch(line); {
	case c.table == "" && m != nil:
		c.table = string(m[1])
		c.rows[c.table] += 0
	case c.table == "":
	case string(line) == `\.`:
		c.table = ""
	default:
		c.rows[c.table]++
		if v, err := strconv.Atoi(string(line)); err == nil && c.table == "schema_version" {
			c.version = max(c.version, v)
		}
	}
}
