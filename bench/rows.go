package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func allRows(e *env) []row {
	rows := []row{e.appendRow(), e.togetherRow(), e.processesRow(), e.loadRow()}
	rows = append(rows, e.listRows()...)
	rows = append(rows, e.openRow(), e.listProcessRow(), e.exportRow())
	return append(rows, e.searchRows()...)
}

// describe says how large a store is.
func describe(z corpus.Size) string {
	return fmt.Sprintf("%d sessions, %d messages", z.Sessions, z.Messages)
}

func (e *env) loadRow() row {
	ours := func(ctx context.Context) (outcome, error) {
		db, err := e.store(ctx, e.Small.Name)
		if err != nil {
			return outcome{}, err
		}
		var n int
		s, err := timed(5, func() error {
			ms, err := db.Messages(ctx, corpus.LongSession)
			n = len(ms)
			return err
		})
		o := seconds(s)
		o.answer = fmt.Sprint(n)
		return o, err
	}
	base := func(context.Context) (outcome, error) {
		a, err := e.python.repeat(5, map[string]any{"op": "load", "store": e.stores[e.Small.Name], "session": corpus.LongSession})
		o := seconds(a.Seconds)
		o.answer = fmt.Sprint(a.N)
		return o, err
	}
	return row{
		name: "Load a transcript of 1,000 messages", data: describe(e.Small),
		sides:  []side{{"ours", ours}, {"python", base}},
		checks: []check{{"", "ours.s", "python.s", inSeconds, ratioAtMost, 0.6}},
	}
}

// listRows measure the first page by last activity, on both stores.
func (e *env) listRows() []row {
	ours := func(size string) func(context.Context) (outcome, error) {
		return func(ctx context.Context) (outcome, error) { return e.firstPage(ctx, size) }
	}
	base := func(context.Context) (outcome, error) {
		a, err := e.python.do(map[string]any{"op": "list_sessions", "store": e.stores[e.Large.Name], "limit": corpus.ListedFirst})
		o := seconds(a.Seconds)
		o.answer = fmt.Sprint(a.IDs)
		return o, err
	}
	return []row{{
		name: "First page by last activity", data: describe(e.Large),
		sides: []side{{"ours", ours(e.Large.Name)}, {"python", base}, {"small", func(ctx context.Context) (outcome, error) {
			o, err := e.firstPage(ctx, e.Small.Name)
			o.answer = ""
			return o, err
		}}},
		checks: []check{
			{"", "ours.s", "", inSeconds, atMost, 0.005},
			{"against the documented query", "ours.s", "python.s", inSeconds, timesFaster, 50},
			{"read from the file, against the small store", "ours.read", "small.read", inBytes, ratioAtMost, 1.5},
		},
	}}
}

// firstPage measures a page in a store that is open, and what a page reads in
// one that was just opened.
func (e *env) firstPage(ctx context.Context, size string) (outcome, error) {
	db, err := e.store(ctx, size)
	if err != nil {
		return outcome{}, err
	}
	filter := sessiondb.ListFilter{ByLastActive: true, Limit: corpus.ListedFirst}
	var ids []string
	s, err := timed(5, func() error {
		list, err := db.Sessions(ctx, filter)
		ids = ids[:0]
		for _, l := range list {
			ids = append(ids, l.ID)
		}
		return err
	})
	if err != nil {
		return outcome{}, err
	}
	o := seconds(s)
	o.answer = fmt.Sprint(ids)
	cold, err := sqlite.Open(ctx, e.stores[size], sqlite.Options{ReadOnly: true})
	if err != nil {
		return o, err
	}
	before := bytesRead()
	_, err = cold.Sessions(ctx, filter)
	o.figures["read"] = bytesRead() - before
	if e := cold.Close(); err == nil {
		err = e
	}
	return o, err
}

// openRow opens a healthy store for writing while another connection holds the
// write lock: what needs the lock would fail or wait for seconds.
func (e *env) openRow() row {
	open := func(size string) func(context.Context) (outcome, error) {
		return func(ctx context.Context) (o outcome, err error) {
			release, err := holdWriteLock(ctx, e.stores[size])
			if err != nil {
				return o, err
			}
			defer release()
			before, start := bytesRead(), time.Now()
			db, err := sqlite.Open(ctx, e.stores[size], sqlite.Options{})
			if err != nil {
				return o, err
			}
			o = seconds(time.Since(start).Seconds())
			o.figures["read"] = bytesRead() - before
			return o, db.Close()
		}
	}
	return row{
		name: "Open a healthy store, the write lock held elsewhere", data: describe(e.Large),
		sides: []side{{"ours", open(e.Large.Name)}, {"small", open(e.Small.Name)}},
		checks: []check{
			{"", "ours.s", "", inSeconds, atMost, 0.1},
			{"read from the file, against the small store", "ours.read", "small.read", inBytes, ratioAtMost, 1.5},
		},
	}
}

func (e *env) listProcessRow() row {
	ours := func(ctx context.Context) (outcome, error) {
		s, err := spawn(ctx, false, e.binary, "list", "--json", "--db", e.stores[e.Large.Name])
		return seconds(s.wall), err
	}
	return row{
		name: "`sessiondb list --json`, a process", data: describe(e.Large),
		sides:  []side{{"ours", ours}},
		checks: []check{{"", "ours.s", "", inSeconds, atMost, 0.040}},
	}
}

func (e *env) exportRow() row {
	ours := func(ctx context.Context) (outcome, error) {
		to := filepath.Join(e.tmp, "export.jsonl")
		defer func() { _ = os.Remove(to) }()
		s, err := spawn(ctx, false, e.binary, "export", "--db", e.stores[e.Large.Name], "--output", to)
		if err != nil {
			return outcome{}, err
		}
		info, err := os.Stat(to)
		if err != nil {
			return outcome{}, err
		}
		return outcome{figures: map[string]float64{"peak": s.peak, "rate": float64(info.Size()) / s.wall}}, nil
	}
	base := func(context.Context) (outcome, error) {
		to := filepath.Join(e.tmp, "export.python.jsonl")
		defer func() { _ = os.Remove(to) }()
		a, err := e.python.do(map[string]any{"op": "export", "store": e.stores[e.Large.Name], "to": to})
		return outcome{figures: map[string]float64{"rate": a.Bytes / a.Seconds}}, err
	}
	return row{
		name: "`sessiondb export` of everything", data: describe(e.Large),
		sides: []side{{"ours", ours}, {"python", base}},
		checks: []check{
			{"peak memory", "ours.peak", "", inBytes, atMost, 64 << 20},
			{"", "ours.rate", "python.rate", bytesPerSecond, ratioAtLeast, 2},
		},
	}
}

// timed returns the median time of n calls.
func timed(n int, fn func() error) (float64, error) {
	list := make([]float64, n)
	for i := range list {
		start := time.Now()
		if err := fn(); err != nil {
			return 0, err
		}
		list[i] = time.Since(start).Seconds()
	}
	return median(list), nil
}
