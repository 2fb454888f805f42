package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// kind is one kind of writer, and what became of its writes.
type kind struct {
	name string

	mu       sync.Mutex
	messages map[string]int64 // acknowledged, by session
	waits    []float64        // seconds
	busy     int
	errors   []string
}

func newKind(name string) *kind { return &kind{name: name, messages: map[string]int64{}} }

func (k *kind) stored(session string, seconds float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.messages[session]++
	k.waits = append(k.waits, seconds)
}

func (k *kind) waited(seconds float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waits = append(k.waits, seconds)
}

func (k *kind) failed(err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errors = append(k.errors, err.Error())
}

// line takes what a writing process printed.
func (k *kind) line(line string) {
	var session string
	var seconds float64
	if line == "busy" {
		k.mu.Lock()
		k.busy++
		k.mu.Unlock()
	} else if text, ok := strings.CutPrefix(line, "error "); ok {
		k.failed(errors.New(text))
	} else if _, err := fmt.Sscan(line, &session, &seconds); err == nil {
		k.stored(session, seconds)
	} else {
		k.failed(fmt.Errorf("printed %q", line))
	}
}

func report(w io.Writer, kinds []*kind) {
	_, _ = fmt.Fprintf(w, "%-8s %8s %9s %9s %9s %5s %6s\n", "writer", "writes", "p50 ms", "p99 ms", "longest", "busy", "errors")
	for _, k := range kinds {
		slices.Sort(k.waits)
		at := func(p float64) float64 {
			if len(k.waits) == 0 {
				return 0
			}
			return 1000 * k.waits[min(len(k.waits)-1, int(p*float64(len(k.waits))))]
		}
		_, _ = fmt.Fprintf(w, "%-8s %8d %9.1f %9.1f %9.1f %5d %6d\n", k.name, len(k.waits), at(.5), at(.99), at(1), k.busy, len(k.errors))
	}
}

// check counts what was acknowledged, and says what went wrong.
func check(ctx context.Context, store string, kinds []*kind) (err error) {
	db, err := sqlite.Open(ctx, store, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var problems []error
	for _, k := range kinds {
		for _, e := range k.errors[:min(5, len(k.errors))] {
			problems = append(problems, fmt.Errorf("%s: %s", k.name, e))
		}
		if k.busy > 0 {
			problems = append(problems, fmt.Errorf("%s: busy %d times", k.name, k.busy))
		}
		for session, want := range k.messages {
			if n, err := db.MessageCount(ctx, session); err != nil || n != want {
				problems = append(problems, fmt.Errorf("%s: %d messages, %d were acknowledged, %v", session, n, want, err))
			}
		}
	}
	findings, err := db.Check(ctx, sessiondb.CheckOptions{})
	for _, f := range findings {
		problems = append(problems, fmt.Errorf("%s: %s", f.Severity, f.What))
	}
	return errors.Join(append(problems, err)...)
}
