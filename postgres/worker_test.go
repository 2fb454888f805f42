package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// workerVariable makes a worker of this program: a process that writes to the store
// of that connection string until it is killed, and tells what was acknowledged.
const workerVariable = "SESSIONDB_TEST_WORKER"

var workerSessions = []string{"one", "two", "three"}

// work is what a worker does. A line is `done SESSION ID TEXT` for a message,
// `used SESSION` or `perhaps SESSION` for a token that was counted, or may be.
func work(dsn string) int {
	ctx := context.Background()
	db, err := Open(ctx, dsn, Options{})
	for errors.Is(err, sessiondb.ErrConnection) {
		db, err = Open(ctx, dsn, Options{})
	}
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	var group sync.WaitGroup
	for _, session := range workerSessions {
		group.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("%s-%d-%d", session, os.Getpid(), n)
				id, err := db.AppendMessage(ctx, session, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)}, sessiondb.Once(text))
				if err != nil {
					fmt.Println("failed", err)
					return
				}
				fmt.Println("done", session, id, text)
				err = db.UpdateUsage(ctx, session, sessiondb.UsageUpdate{Tokens: sessiondb.Tokens{Input: 1}})
				switch {
				case err == nil:
					fmt.Println("used", session)
				case errors.Is(err, sessiondb.ErrUncertain):
					fmt.Println("perhaps", session)
				default:
					fmt.Println("failed", err)
					return
				}
			}
		})
	}
	group.Wait()
	return 1
}

// acked is what workers were told.
type acked struct {
	mu      sync.Mutex
	lines   int
	done    map[string]int64 // text to id
	last    map[string]int64 // by process and session
	used    map[string]int64
	perhaps map[string]int64
	failed  []string
	group   sync.WaitGroup
	more    chan struct{}
}

func newAcked() *acked {
	return &acked{done: map[string]int64{}, last: map[string]int64{}, used: map[string]int64{}, perhaps: map[string]int64{}, more: make(chan struct{}, 1)}
}

// start runs a worker. Ending it may leave one token a session uncertain.
func (a *acked) start(t *testing.T, dsn string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), workerVariable+"="+dsn)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	a.group.Go(func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				break // half a line was not said
			}
			a.hear(cmd.Process.Pid, strings.TrimSuffix(line, "\n"))
		}
		_ = cmd.Wait()
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, s := range workerSessions {
			a.perhaps[s]++
		}
	})
	return cmd
}

func (a *acked) hear(pid int, line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var session, text string
	var id int64
	if _, err := fmt.Sscanf(line, "done %s %d %s", &session, &id, &text); err == nil {
		if key := fmt.Sprint(pid, session); id <= a.last[key] {
			a.failed = append(a.failed, fmt.Sprintf("%s after %d", line, a.last[key]))
		} else {
			a.last[key] = id
		}
		a.done[text] = id
	} else if session, ok := strings.CutPrefix(line, "used "); ok {
		a.used[session]++
	} else if session, ok := strings.CutPrefix(line, "perhaps "); ok {
		a.perhaps[session]++
	} else {
		a.failed = append(a.failed, line)
	}
	a.lines++
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// wait returns when workers were told n things more, or the test has ended.
func (a *acked) wait(t *testing.T, n int) {
	t.Helper()
	a.mu.Lock()
	want := a.lines + n
	a.mu.Unlock()
	for {
		select {
		case <-a.more:
		case <-t.Context().Done():
			t.Fatal("the test was ended")
		}
		a.mu.Lock()
		enough, failed := a.lines >= want, a.failed
		a.mu.Unlock()
		if len(failed) > 0 {
			t.Fatalf("a worker failed: %s", failed[0])
		}
		if enough {
			return
		}
	}
}

// judge compares what workers were told with what is there.
func (a *acked) judge(t *testing.T, db *sessiondb.DB) {
	t.Helper()
	there := map[string]int64{}
	for _, id := range workerSessions {
		ms, err := db.Messages(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if text := m.Content.PlainText(); there[text] != 0 {
				t.Errorf("%s is there twice", text)
			} else {
				there[text] = m.ID
			}
		}
		if n := hits(t, db, sessiondb.SearchQuery{Text: id}); n != int64(len(ms)) {
			t.Errorf("%d of %d messages of %s are found", n, len(ms), id)
		}
		s, err := db.Session(t.Context(), id)
		if err != nil || s.MessageCount != int64(len(ms)) {
			t.Errorf("%s has %d messages and counts %d, %v", id, len(ms), s.MessageCount, err)
		}
		if low, high := a.used[id], a.used[id]+a.perhaps[id]; s.Usage.Input < low || s.Usage.Input > high {
			t.Errorf("%s counts %d tokens, between %d and %d were used", id, s.Usage.Input, low, high)
		}
	}
	for text, id := range a.done {
		if there[text] != id {
			t.Errorf("%s was acknowledged as %d, it is %d", text, id, there[text])
		}
	}
	if len(a.done) == 0 {
		t.Error("nothing was written")
	}
	for _, f := range a.failed {
		t.Error(f)
	}
}

// caughtUp lets another program look, which puts into the index what those left over
// that were killed.
func caughtUp(t *testing.T, dsn string) {
	t.Helper()
	c := raw(t, dsn)
	if _, err := c.Exec(t.Context(), `SELECT set_config('search_path', current_setting('search_path') || ', `+defaultSchema+`', false)`); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n > 0; n = waits(t, c) { // the server may not know yet that some are gone
		db := openAt(t, dsn)
		hits(t, db, sessiondb.SearchQuery{Text: "one"})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
