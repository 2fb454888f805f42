package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/postgres"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// workerMain runs the part of a row that needs a process of its own, if the
// arguments ask for one: worker append|bare|clients STORE MESSAGES SESSION.
func workerMain(args []string) bool {
	if len(args) != 5 || args[0] != "worker" {
		return false
	}
	work := appendOneByOne
	switch args[1] {
	case "bare":
		work = appendBare
	case "clients":
		work = appendClients
	}
	a, err := work(context.Background(), args[2], args[3], args[4])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// appended is what appending took, and when it began, in seconds.
type appended struct{ Seconds, Longest, Begin float64 }

func appendOneByOne(ctx context.Context, store, messages, session string) (a appended, err error) {
	ms, err := readMessages(messages)
	if err != nil {
		return a, err
	}
	db, err := openAny(ctx, store)
	if err != nil {
		return a, err
	}
	start := time.Now()
	for _, m := range ms {
		t := time.Now()
		if _, err := db.AppendMessage(ctx, session, m); err != nil {
			return a, err
		}
		a.Longest = max(a.Longest, time.Since(t).Seconds())
	}
	a.Seconds = time.Since(start).Seconds()
	return a, db.Close()
}

// openAny opens a store for writing: a URL is that of a server, anything else a file.
func openAny(ctx context.Context, store string) (*sessiondb.DB, error) {
	if strings.Contains(store, "://") {
		return postgres.Open(ctx, store, postgres.Options{})
	}
	return sqlite.Open(ctx, store, sqlite.Options{})
}

// clientSession is the session of one client of appendClients.
func clientSession(name string, j int) string { return fmt.Sprintf("%s-%d", name, j) }

// appendClients appends from several goroutines, each to a session of its own. What the
// store does after an append is counted too: it ends when the store is closed.
func appendClients(ctx context.Context, store, messages, name string) (a appended, err error) {
	ms, err := readMessages(messages)
	if err != nil {
		return a, err
	}
	db, err := openAny(ctx, store)
	if err != nil {
		return a, err
	}
	var wg sync.WaitGroup
	errs := make([]error, clientsEach)
	start := time.Now()
	for j := range clientsEach {
		wg.Go(func() {
			for i := j; i < len(ms) && errs[j] == nil; i += clientsEach {
				_, errs[j] = db.AppendMessage(ctx, clientSession(name, j), ms[i])
			}
		})
	}
	wg.Wait()
	err = errors.Join(append(errs, db.Close())...)
	a.Seconds, a.Begin = time.Since(start).Seconds(), float64(start.UnixMicro())/1e6
	return a, err
}

// appendTogether appends from n goroutines at once; with a lock, one append at
// a time.
func appendTogether(ctx context.Context, store string, ms []sessiondb.Message, n int, lock sync.Locker) (float64, error) {
	db, err := sqlite.Open(ctx, store, sqlite.Options{})
	if err != nil {
		return 0, err
	}
	var wg sync.WaitGroup
	errs := make([]error, n)
	start := time.Now()
	for k := range n {
		wg.Go(func() {
			for i := k; i < len(ms) && errs[k] == nil; i += n {
				lock.Lock()
				_, errs[k] = db.AppendMessage(ctx, appendTo, ms[i])
				lock.Unlock()
			}
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	if err := db.Close(); err != nil {
		return 0, err
	}
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}

// unlocked is no lock at all.
type unlocked struct{}

func (unlocked) Lock()   {}
func (unlocked) Unlock() {}

// writeMessages stores messages for programs in three languages to read: each
// field as LENGTH:BYTES, length -1 for NULL, seven fields a message.
func writeMessages(path string, ms []corpus.Message) error {
	var b bytes.Buffer
	for _, m := range ms {
		for _, f := range []string{m.Role, m.Content, m.ToolCallID, m.ToolCalls, m.ToolName, m.FinishReason, m.Reasoning} {
			if f == "" {
				b.WriteString("-1:")
			} else {
				fmt.Fprintf(&b, "%d:%s", len(f), f)
			}
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// fieldsOfMessage is how many fields of writeMessages a message has.
const fieldsOfMessage = 7

// readFields returns all fields: strings, nil for NULL.
func readFields(path string) (out []any, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for len(b) > 0 {
		length, rest, _ := bytes.Cut(b, []byte(":"))
		b = rest
		n, err := strconv.Atoi(string(length))
		if err != nil {
			return nil, err
		}
		if n < 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, string(b[:n]))
		b = b[n:]
	}
	return out, nil
}

func readMessages(path string) (out []sessiondb.Message, err error) {
	fields, err := readFields(path)
	if err != nil {
		return nil, err
	}
	text := func(v any) string { s, _ := v.(string); return s }
	for f := range slices.Chunk(fields, fieldsOfMessage) {
		out = append(out, corpus.Message{
			Role: text(f[0]), Content: text(f[1]), ToolCallID: text(f[2]), ToolCalls: text(f[3]), ToolName: text(f[4]), FinishReason: text(f[5]), Reasoning: text(f[6]),
		}.Stored())
	}
	return out, nil
}
