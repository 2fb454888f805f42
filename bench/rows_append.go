package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// onFresh runs fn on an empty store.
func (e *env) onFresh(fn func(ctx context.Context, store string) (outcome, error)) func(context.Context) (outcome, error) {
	return func(ctx context.Context) (outcome, error) {
		store, remove, err := e.fresh(ctx)
		if remove != nil {
			defer remove()
		}
		if err != nil {
			return outcome{}, err
		}
		return fn(ctx, store)
	}
}

func (e *env) appendRow() row {
	worker := func(kind string) func(ctx context.Context, store string) (outcome, error) {
		return func(ctx context.Context, store string) (outcome, error) {
			s, err := spawn(ctx, true, e.self, "worker", kind, store, e.messages, appendTo)
			var a appended
			if err == nil {
				err = json.Unmarshal(s.stdout, &a)
			}
			return outcome{figures: map[string]float64{"cpu": s.cpu, "s": a.Seconds}}, err
		}
	}
	raw := func(ctx context.Context, store string) (outcome, error) {
		s, err := spawn(ctx, false, e.rawC, store, e.messages, appendTo)
		return outcome{figures: map[string]float64{"cpu": s.cpu, "s": s.wall}}, err
	}
	py := func(_ context.Context, store string) (outcome, error) {
		a, err := e.python.do(map[string]any{"op": "append", "store": store, "messages": e.messages, "session": appendTo})
		return seconds(a.Seconds), err
	}
	return row{
		name: "Append, one at a time", data: fmt.Sprintf("%d messages, new store", e.Appends),
		sides: []side{
			{"ours", e.onFresh(worker("append"))}, {"driver", e.onFresh(worker("bare"))}, {"c", e.onFresh(raw)}, {"python", e.onFresh(py)},
		},
		checks: []check{
			{"CPU against C", "ours.cpu", "c.cpu", inSeconds, ratioAtMost, 1.35},
			{"CPU against the driver alone", "ours.cpu", "driver.cpu", inSeconds, noTarget, 0},
			{"wall against the driver alone", "ours.s", "driver.s", inSeconds, noTarget, 0},
			{"wall against Python", "ours.s", "python.s", inSeconds, ratioAtMost, 1},
		},
	}
}

const writers = 16

func (e *env) togetherRow() row {
	ours := func(lock sync.Locker) func(ctx context.Context, store string) (outcome, error) {
		return func(ctx context.Context, store string) (outcome, error) {
			ms, err := readMessages(e.messages)
			if err != nil {
				return outcome{}, err
			}
			s, err := appendTogether(ctx, store, ms, writers, lock)
			return seconds(s), err
		}
	}
	py := func(_ context.Context, store string) (outcome, error) {
		a, err := e.python.do(map[string]any{"op": "append_threads", "store": store, "messages": e.messages, "session": appendTo, "threads": writers})
		return seconds(a.Seconds), err
	}
	return row{
		name: fmt.Sprintf("Append from %d goroutines", writers), data: fmt.Sprintf("%d messages, new store", e.Appends),
		sides: []side{{"ours", e.onFresh(ours(unlocked{}))}, {"lock", e.onFresh(ours(&sync.Mutex{}))}, {"python", e.onFresh(py)}},
		checks: []check{
			{"against one lock around single appends", "ours.s", "lock.s", inSeconds, timesFaster, 2.4},
			{"against Python with threads", "ours.s", "python.s", inSeconds, timesFaster, 2.4},
		},
	}
}

const (
	processes  = 4
	perProcess = 500
)

func (e *env) processesRow() row {
	each := min(perProcess, e.Appends)
	messages := filepath.Join(e.tmp, "messages-process")
	ours := func(ctx context.Context, store string) (outcome, error) {
		return e.compete(ctx, store, each, func(k int) (appended, error) {
			var a appended
			s, err := spawn(ctx, true, e.self, "worker", "append", store, messages, appendTo)
			if err == nil {
				err = json.Unmarshal(s.stdout, &a)
			}
			return a, err
		})
	}
	py := func(ctx context.Context, store string) (outcome, error) {
		var ps [processes]*python
		for k := range ps {
			var err error
			if ps[k], err = startPython(ctx, e.tmp); err != nil {
				return outcome{}, err
			}
			defer ps[k].close()
		}
		return e.compete(ctx, store, each, func(k int) (appended, error) {
			a, err := ps[k].do(map[string]any{"op": "append", "store": store, "messages": messages, "session": appendTo})
			return appended{Seconds: a.Seconds, Longest: a.Longest}, err
		})
	}
	prepared := func(fn func(context.Context) (outcome, error)) func(context.Context) (outcome, error) {
		return func(ctx context.Context) (outcome, error) {
			if err := writeMessages(messages, corpus.Messages(11, each)); err != nil {
				return outcome{}, err
			}
			return fn(ctx)
		}
	}
	return row{
		name: fmt.Sprintf("%d processes append %d each", processes, each), data: "new store",
		sides: []side{{"ours", prepared(e.onFresh(ours))}, {"python", prepared(e.onFresh(py))}},
		checks: []check{
			{"messages lost", "ours.lost", "", plain, atMost, 0},
			{"longest wait", "ours.longest", "", inSeconds, atMost, 0.4},
			{"longest wait, against the documented policy", "ours.longest", "python.longest", inSeconds, noTarget, 0},
			{"all done", "ours.s", "python.s", inSeconds, noTarget, 0},
		},
	}
}

// compete runs all processes at once and counts what arrived.
func (e *env) compete(ctx context.Context, store string, each int, work func(k int) (appended, error)) (outcome, error) {
	var all [processes]appended
	var errs [processes]error
	var wg sync.WaitGroup
	for k := range processes {
		wg.Go(func() { all[k], errs[k] = work(k) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return outcome{}, err
	}
	db, err := sqlite.Open(ctx, store, sqlite.Options{ReadOnly: true})
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = db.Close() }()
	n, err := db.MessageCount(ctx, appendTo)
	o := outcome{figures: map[string]float64{"lost": math.Abs(float64(int64(each*processes) - n))}}
	for _, a := range all {
		o.figures["longest"] = max(o.figures["longest"], a.Longest)
		o.figures["s"] = max(o.figures["s"], a.Seconds)
	}
	return o, err
}

// holdWriteLock takes the write lock of a store until release is called.
func holdWriteLock(ctx context.Context, path string) (release func(), err error) {
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return func() { _ = tx.Rollback(); _ = db.Close() }, nil
}
