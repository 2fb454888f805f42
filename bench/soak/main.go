// Command soak lets a gateway, the command line, several agents and Python's
// sqlite3 write to one store for a set time, and prints how long a write
// waited. It fails on any error, and when anything that was acknowledged is
// not there at the end.
//
//	go run ./soak -for 10m
//
// The load is what docs/operations.md says a store carries without ErrBusy:
// people and agents who talk, each write some tens of milliseconds after the
// one before.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/sqlite"
)

func main() {
	if agentMain(os.Args[1:]) {
		return
	}
	var l load
	flag.DurationVar(&l.length, "for", time.Minute, "how long")
	flag.IntVar(&l.agents, "agents", 4, "processes that use the library")
	flag.IntVar(&l.sessions, "sessions", 16, "sessions at once in the gateway")
	flag.DurationVar(&l.pause, "pause", 50*time.Millisecond, "between two writes of one writer")
	dir := flag.String("dir", "", "`folder` for the store, kept (default: a temporary one)")
	flag.Parse()
	if err := run(context.Background(), l, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// load is who writes, for how long.
type load struct {
	length           time.Duration
	agents, sessions int
	pause            time.Duration
	store, binary    string
}

func run(ctx context.Context, l load, dir string) (err error) {
	temporary, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if dir == "" {
		dir = temporary
	}
	l.store = filepath.Join(dir, "state.db")
	l.binary = filepath.Join(temporary, "sessiondb")
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/sessiondb-go/sessiondb").Output()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.binary, "./cmd/sessiondb")
	build.Dir = strings.TrimSpace(string(module))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	db, err := sqlite.Open(ctx, l.store, sqlite.Options{}) // Python makes no schema
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	kinds := l.start(ctx)
	report(os.Stdout, kinds)
	return check(ctx, l.store, kinds)
}
