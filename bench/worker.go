package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// workerMain runs the part of a row that needs a process of its own, if the
// arguments ask for one: worker append STORE MESSAGES SESSION.
func workerMain(args []string) bool {
	if len(args) != 5 || args[0] != "worker" || args[1] != "append" {
		return false
	}
	a, err := appendOneByOne(context.Background(), args[2], args[3], args[4])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// appended is what appending took, in seconds.
type appended struct{ Seconds, Longest float64 }

func appendOneByOne(ctx context.Context, store, messages, session string) (a appended, err error) {
	ms, err := readMessages(messages)
	if err != nil {
		return a, err
	}
	db, err := sqlite.Open(ctx, store, sqlite.Options{})
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

func readMessages(path string) (out []sessiondb.Message, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	next := func() *string {
		colon := bytes.IndexByte(b, ':')
		n, _ := strconv.Atoi(string(b[:colon]))
		b = b[colon+1:]
		if n < 0 {
			return nil
		}
		s := string(b[:n])
		b = b[n:]
		return &s
	}
	for len(b) > 0 {
		m := sessiondb.Message{Role: *next()}
		if s := next(); s != nil {
			m.Content = storedContent(*s)
		}
		m.ToolCallID = next()
		if s := next(); s != nil {
			m.ToolCalls = json.RawMessage(*s)
		}
		m.ToolName, m.FinishReason, m.Reasoning = next(), next(), next()
		out = append(out, m)
	}
	return out, nil
}

// storedContent reads what the content column holds.
func storedContent(s string) sessiondb.Content {
	if parts, ok := strings.CutPrefix(s, "\x00json:"); ok {
		return sessiondb.Structured(json.RawMessage(parts))
	}
	return sessiondb.Text(s)
}
