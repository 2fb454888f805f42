package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// open opens a store and closes it with the test.
func open(t *testing.T, path string, o Options) *store {
	t.Helper()
	return openWith(t, path, o, settings{})
}

func openWith(t *testing.T, path string, o Options, set settings) *store {
	t.Helper()
	s, err := openStore(t.Context(), path, o, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// db is the public face of a store.
func db(s *store) *sessiondb.DB { return sessiondb.New(s, sessiondb.Config{}) }

// fresh is a new store in a folder of its own.
func fresh(t *testing.T) *store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "state.db"), Options{})
}

// compact does all that Compact does.
func compact(t *testing.T, s *store) error {
	t.Helper()
	_, err := s.Compact(t.Context(), engine.CompactOptions{})
	return err
}

// raw is a plain connection, as another program has it.
func raw(t *testing.T, path string) *conn {
	t.Helper()
	c, err := openConn(t.Context(), path, access{mode: "rw"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.close() })
	return c
}

// dump renders a result, a row a line.
func dump(t *testing.T, c *conn, query string, args ...any) []string {
	t.Helper()
	r, err := c.query(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = r.Close() }()
	var out []string
	for r.Next() {
		out = append(out, fmt.Sprintf("%#v", r.vals))
	}
	if err := r.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func scalar[T any](t *testing.T, c *conn, query string, args ...any) (v T) {
	t.Helper()
	if err := c.queryRow(t.Context(), []any{&v}, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func run(t *testing.T, c *conn, query string, args ...any) {
	t.Helper()
	if _, err := c.exec(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func hash(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// neighbours lists the files beside a database.
func neighbours(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.Name(), filepath.Base(path)))
	}
	return names
}

// consistent fails unless a database is sound and its counters and indexes
// agree with its messages.
func consistent(t *testing.T, path string) {
	t.Helper()
	sound(t, path, indexes...)
}

// sound is consistent for a file of which only some full-text tables were
// filled by this SQLite: releases before 3.46 index text after a NUL in another
// way, which later ones call malformed.
func sound(t *testing.T, path string, filled ...string) {
	t.Helper()
	c := raw(t, path)
	for _, row := range dump(t, c, "PRAGMA integrity_check") {
		if !strings.Contains(row, `"ok"`) && (len(filled) == len(indexes) || !strings.Contains(row, "inverted index for FTS5 table main.messages_fts_trigram")) {
			t.Errorf("integrity_check: %s", row)
		}
	}
	if rows := dump(t, c, "PRAGMA foreign_key_check"); len(rows) > 0 {
		t.Errorf("foreign_key_check: %v", rows)
	}
	for _, index := range filled {
		run(t, c, "INSERT INTO "+index+" ("+index+", rank) VALUES ('integrity-check', 1)")
	}
	n := scalar[int64](t, c, "SELECT COUNT(*) FROM messages")
	for _, index := range indexes {
		if got := scalar[int64](t, c, "SELECT COUNT(*) FROM "+index+"_docsize"); got != n {
			t.Errorf("%s holds %d of %d messages", index, got, n)
		}
	}
	if got := scalar[int64](t, c, "SELECT COUNT(*) FROM schema_version"); got != 1 {
		t.Errorf("%d version rows", got)
	}
}

// noPause replaces the wait between attempts and counts.
func noPause(n *int) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		*n++
		if d < retry.MinPause || d > retry.MaxPause {
			return fmt.Errorf("pause of %s", d)
		}
		return ctx.Err()
	}
}

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state.db")
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// yieldProcessor lets other goroutines run.
func yieldProcessor() { runtime.Gosched() }

func scanVersion(v string, parts ...any) (int, error) {
	return fmt.Sscanf(v, "%d.%d.%d", parts...)
}
