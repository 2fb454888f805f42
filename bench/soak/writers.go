package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// start runs all writers at the same time, until the time is over.
func (l load) start(ctx context.Context) []*kind {
	end := time.Now().Add(l.length)
	gateway, agents, commands, python := newKind("gateway"), newKind("agent"), newKind("command"), newKind("python")
	var wg sync.WaitGroup
	wg.Go(func() { gateway.failed(l.gateway(ctx, gateway, end)) })
	for i := range l.agents {
		wg.Go(func() {
			args := []string{"agent", l.store, fmt.Sprint("agent-", i), time.Until(end).String(), l.pause.String()}
			agents.failed(follow(exec.CommandContext(ctx, os.Args[0], args...), agents))
		})
	}
	wg.Go(func() { l.commands(ctx, commands, end) })
	wg.Go(func() {
		args := []string{"-c", pythonWriter, l.store, fmt.Sprint(time.Until(end).Seconds()), fmt.Sprint(l.pause.Seconds())}
		python.failed(follow(exec.CommandContext(ctx, "python3", args...), python))
	})
	wg.Wait()
	return []*kind{gateway, agents, commands, python}
}

// follow reads the lines of a writing process: "SESSION SECONDS" for each
// message that was acknowledged, "busy" or "error TEXT" for what was not.
func follow(cmd *exec.Cmd, k *kind) error {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		k.line(lines.Text())
	}
	return cmd.Wait()
}

// agentMain is a process that uses the library, if the arguments ask for one:
// agent STORE SESSION LENGTH PAUSE.
func agentMain(args []string) bool {
	if len(args) != 5 || args[0] != "agent" {
		return false
	}
	if err := agent(context.Background(), args[1], args[2], args[3], args[4]); err != nil {
		fmt.Println("error", err)
	}
	return true
}

func agent(ctx context.Context, store, session, length, pause string) (err error) {
	lasts, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	wait, err := time.ParseDuration(pause)
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, store, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.CreateSession(ctx, sessiondb.NewSession{ID: session, Source: "agent"}); err != nil {
		return err
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(wait) {
		start := time.Now()
		_, err := db.AppendMessage(ctx, session, sessiondb.Message{Role: "user", Content: sessiondb.Text(words)})
		switch {
		case errors.Is(err, sessiondb.ErrBusy):
			fmt.Println("busy")
		case err != nil:
			fmt.Println("error", err)
		default:
			fmt.Println(session, time.Since(start).Seconds())
		}
	}
	return nil
}

const words = "some words that an agent says, and 몇 마디 더, to be found again one day"

// gateway keeps many sessions of one server busy at once.
func (l load) gateway(ctx context.Context, k *kind, end time.Time) error {
	cmd := exec.CommandContext(ctx, l.binary, "rpc", "--db", l.store)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g := &gateway{in: in, answers: make([]chan answer, l.sessions)}
	for i := range g.answers {
		g.answers[i] = make(chan answer, 1)
	}
	go g.read(out)
	var wg sync.WaitGroup
	for i := range l.sessions {
		wg.Go(func() { g.talk(k, i, end, l.pause) })
	}
	wg.Wait()
	_ = in.Close()
	return cmd.Wait()
}

type gateway struct {
	mu      sync.Mutex
	in      io.Writer
	answers []chan answer
}

type answer struct {
	ID    int
	Error *struct {
		Message string
		Data    struct{ Kind string }
	}
}

func (g *gateway) read(out io.Reader) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			for _, c := range g.answers {
				close(c)
			}
			return
		}
		var a answer
		if json.Unmarshal(line, &a) == nil {
			g.answers[a.ID] <- a
		}
	}
}

// talk is one conversation: a message, and now and then a look at the list and
// a search.
func (g *gateway) talk(k *kind, i int, end time.Time, pause time.Duration) {
	session := fmt.Sprint("gateway-", i)
	if a, ok := g.ask(i, "create_session", map[string]any{"session_id": session, "source": "gateway"}); !ok || a.Error != nil {
		k.failed(fmt.Errorf("create %s: %+v", session, a.Error))
		return
	}
	for n := 0; time.Now().Before(end); n++ {
		start := time.Now()
		a, ok := g.ask(i, "append_message", map[string]any{"session_id": session, "role": "user", "content": words})
		switch {
		case !ok:
			k.failed(errors.New("the gateway is gone"))
			return
		case a.Error == nil:
			k.stored(session, time.Since(start).Seconds())
		case a.Error.Data.Kind == "busy":
			k.line("busy")
		default:
			k.failed(errors.New(a.Error.Message))
		}
		if n%20 == i%20 {
			for method, p := range map[string]any{"list_sessions_rich": map[string]any{}, "search_messages": map[string]any{"query": "found again"}} {
				if a, ok := g.ask(i, method, p); ok && a.Error != nil {
					k.failed(fmt.Errorf("%s: %s", method, a.Error.Message))
				}
			}
		}
		time.Sleep(pause)
	}
}

func (g *gateway) ask(i int, method string, params any) (answer, bool) {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i, "method": method, "params": params})
	if err != nil {
		return answer{}, false
	}
	g.mu.Lock()
	_, err = g.in.Write(append(b, '\n'))
	g.mu.Unlock()
	if err != nil {
		return answer{}, false
	}
	a, ok := <-g.answers[i]
	return a, ok
}

// commands is a person who looks, renames, exports and prunes now and then.
func (l load) commands(ctx context.Context, k *kind, end time.Time) {
	export := filepath.Join(filepath.Dir(l.binary), "export.jsonl")
	for n := 0; time.Now().Before(end); n++ {
		for _, args := range [][]string{
			{"list"}, {"search", "found again"}, {"rename", "agent-0", fmt.Sprint("agent, ", n)},
			{"export", "-o", export}, {"prune", "--yes"}, {"doctor"},
		} {
			start := time.Now()
			out, err := exec.CommandContext(ctx, l.binary, append(args, "--db", l.store)...).CombinedOutput()
			if err != nil {
				k.failed(fmt.Errorf("%v: %w: %s", args, err, out))
			} else if args[0] == "rename" || args[0] == "prune" {
				k.waited(time.Since(start).Seconds())
			}
			time.Sleep(l.pause * 10)
		}
	}
}

// pythonWriter is a second program: STORE SECONDS PAUSE.
const pythonWriter = `
import random, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=1.0, isolation_level=None)
db.execute("PRAGMA synchronous = FULL")
def write(fn):
    for attempt in range(15):
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                fn()
                db.execute("COMMIT")
                return True
            except BaseException:
                db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as e:
            if "locked" not in str(e):
                raise
            time.sleep(random.uniform(0.02, 0.15))
    return False
write(lambda: db.execute("INSERT INTO sessions (id, source, started_at) VALUES ('python', 'python', ?)", (time.time(),)))
def one():
    db.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('python', 'user', 'some words from python', ?)", (time.time(),))
    db.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = 'python'")
end = time.time() + float(sys.argv[2])
while time.time() < end:
    start = time.time()
    try:
        done = write(one)
        print("python %f" % (time.time() - start) if done else "busy", flush=True)
    except sqlite3.Error as e:
        print("error", repr(e), flush=True)
    time.sleep(float(sys.argv[3]))
`
