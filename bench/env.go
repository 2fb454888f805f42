package main

import (
	"context"
	_ "embed"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

//go:embed baseline/append.c
var appendC string

// sqliteFlags build SQLite as distributions do, as far as it matters here.
const sqliteFlags = "-O2 -DSQLITE_ENABLE_FTS5 -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DHAVE_FDATASYNC=1"

// env is what all rows share.
type env struct {
	config
	module   string // folder of the main module
	self     string // this program, for rows that need processes
	binary   string // sessiondb
	rawC     string // the baseline in C
	tmp      string // for stores that are written to
	messages string // file of the messages that writing rows append
	python   *python
	stores   map[string]string // path by name of the size
	open     map[string]*sessiondb.DB
	versions []string
}

func setUp(ctx context.Context, c config) (_ *env, err error) {
	e := &env{config: c, stores: map[string]string{}, open: map[string]*sessiondb.DB{}}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.self, err = os.Executable(); err != nil {
		return nil, err
	}
	for _, z := range []corpus.Size{c.Small, c.Large} {
		if e.stores[z.Name], err = corpus.Store(ctx, c.Dir, z, c.say); err != nil {
			return nil, err
		}
	}
	if e.tmp, err = os.MkdirTemp(c.Dir, "run-"); err != nil {
		return nil, err
	}
	e.messages = filepath.Join(e.tmp, "messages")
	if err := writeMessages(e.messages, corpus.Messages(7, c.Appends)); err != nil {
		return nil, err
	}
	if err := e.build(ctx); err != nil {
		return nil, err
	}
	if e.python, err = startPython(ctx, e.tmp); err != nil {
		return nil, err
	}
	return e, e.readVersions(ctx)
}

// build makes the programs that rows run as processes.
func (e *env) build(ctx context.Context) (err error) {
	if e.module, err = output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/sessiondb-go/sessiondb"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(e.module, "cmd", "sessiondb")); err == nil {
		e.binary = filepath.Join(e.tmp, "sessiondb")
		if _, err := output(ctx, "env", "CGO_ENABLED=0", "go", "build", "-C", e.module, "-o", e.binary, "./cmd/sessiondb"); err != nil {
			return err
		}
	}
	return e.compile(ctx)
}

// compile builds the baseline in C against the SQLite sources of go-sqlite3. The
// object of SQLite takes long to make and is kept in the user's cache.
func (e *env) compile(ctx context.Context) error {
	dir, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3")
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(cache, "sessiondb-bench"), 0o700); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%08x.o", filepath.Base(dir), crc32.ChecksumIEEE([]byte(sqliteFlags)))
	object := filepath.Join(cache, "sessiondb-bench", name)
	if _, err := os.Stat(object); err != nil {
		e.say("compiling SQLite")
		args := append(strings.Fields(sqliteFlags), "-c", "-o", object+".making", filepath.Join(dir, "sqlite3-binding.c"))
		if _, err := output(ctx, "gcc", args...); err != nil {
			return err
		}
		if err := os.Rename(object+".making", object); err != nil {
			return err
		}
	}
	header, err := os.ReadFile(filepath.Join(dir, "sqlite3-binding.h"))
	if err != nil {
		return err
	}
	source := filepath.Join(e.tmp, "append.c")
	for path, text := range map[string]string{source: appendC, filepath.Join(e.tmp, "sqlite3.h"): string(header)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	e.rawC = filepath.Join(e.tmp, "append")
	_, err = output(ctx, "gcc", "-O2", "-I", e.tmp, "-o", e.rawC, source, object, "-lm", "-lpthread")
	return err
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s: %w\n%s", name, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// store returns the open store of a size, as a program that stays up has it.
func (e *env) store(ctx context.Context, size string) (*sessiondb.DB, error) {
	if db := e.open[size]; db != nil {
		return db, nil
	}
	db, err := sqlite.Open(ctx, e.stores[size], sqlite.Options{ReadOnly: true})
	if err == nil {
		e.open[size] = db
	}
	return db, err
}

const appendTo = "s_append"

// fresh makes an empty store with one session to append to.
func (e *env) fresh(ctx context.Context) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp(e.tmp, "fresh-")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "state.db")
	remove = func() { _ = os.RemoveAll(dir) }
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return "", remove, err
	}
	_, err = db.CreateSession(ctx, sessiondb.NewSession{ID: appendTo, Source: "cli"})
	if e := db.Close(); err == nil {
		err = e
	}
	return path, remove, err
}

func (e *env) close() {
	for _, db := range e.open {
		_ = db.Close()
	}
	if e.python != nil {
		e.python.close()
	}
	if e.tmp != "" {
		_ = os.RemoveAll(e.tmp)
	}
}
