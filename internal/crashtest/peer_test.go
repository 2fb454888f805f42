package crashtest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed testdata/writer.py
var writerProgram string

// peer is a process that writes for some lanes, asked over JSON-RPC.
type peer struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  strings.Builder
	lanes   []*lane
	random  *rand.Rand
	answers int
	busy    int
	kill    sync.Once
	killed  func() // sends SIGKILL
	failed  []string
}

func start(t *testing.T, cmd *exec.Cmd, r *rand.Rand, lanes ...*lane) *peer {
	t.Helper()
	p := &peer{t: t, cmd: cmd, lanes: lanes, random: rand.New(rand.NewPCG(r.Uint64(), 0))}
	p.killed = func() { _ = cmd.Process.Kill() }
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &p.stderr
	p.in, p.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func rpcServer(t *testing.T, tracer []string, path string) *exec.Cmd {
	return as(t, "sessiondb", tracer, "rpc", "--db", path)
}

// pythonServer is a second program that writes through plain SQLite; nil where
// there is no Python.
func pythonServer(t *testing.T, tracer []string, path string) *exec.Cmd {
	python := findPython()
	if python == "" {
		t.Log("no python3: without a foreign writer")
		return nil
	}
	line := append(append([]string{}, tracer...), python, "-I", "-S", "-c", writerProgram, path)
	return exec.CommandContext(t.Context(), line[0], line[1:]...)
}

// findPython finds the interpreter itself, not a script that looks for it.
var findPython = sync.OnceValue(func() string {
	b, _ := exec.Command("python3", "-c", "import sqlite3, sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(b))
})

// work keeps every lane busy until the process ends. It is killed a moment
// after so many answers.
func (p *peer) work(answers int, moment time.Duration) {
	defer func() { _ = p.in.Close(); _ = p.cmd.Wait() }()
	for i := range p.lanes {
		p.send(i)
	}
	for {
		if p.answers >= answers {
			p.kill.Do(func() { time.AfterFunc(moment, p.killed) })
		}
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			break
		}
		p.receive(line)
	}
	if p.answers < answers {
		p.failed = append(p.failed, fmt.Sprintf("the process ended after %d answers: %s", p.answers, p.stderr.String()))
	}
}

func (p *peer) send(i int) {
	l := p.lanes[i]
	l.open = l.next(p.random)
	method, params := l.request(l.open)
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i, "method": method, "params": params})
	if err == nil {
		_, _ = p.in.Write(append(b, '\n')) // it may be dead
	}
}

func (p *peer) receive(line []byte) {
	var a struct {
		ID     int
		Result json.RawMessage
		Error  *struct {
			Message string
			Data    struct{ Kind string }
		}
	}
	if err := json.Unmarshal(line, &a); err != nil {
		p.failed = append(p.failed, fmt.Sprintf("answer %q: %v", line, err))
		return
	}
	l := p.lanes[a.ID]
	switch {
	case a.Error == nil:
		l.state = l.after(l.open, messageIDs(l.open, a.Result))
		p.answers++
	case a.Error.Data.Kind == "busy":
		p.busy++
		p.answers++
		if l.open.several() {
			return // what of it is done is for the check to see
		}
	default:
		p.failed = append(p.failed, fmt.Sprintf("%s %s: %s", l.name, l.open.kind, a.Error.Message))
		return
	}
	p.send(a.ID)
}

// messageIDs are the ids that an append gave.
func messageIDs(c *call, result json.RawMessage) (ids []int64) {
	switch c.kind {
	case "append":
		ids = make([]int64, 1)
		_ = json.Unmarshal(result, &ids[0])
	case "many":
		_ = json.Unmarshal(result, &ids)
	}
	return ids
}

type params = map[string]any

// request is a call as JSON-RPC has it.
func (l *lane) request(c *call) (method string, p params) {
	id := c.session
	messages := func() (out []params) {
		for _, m := range l.texts(c, nil) {
			out = append(out, params{"role": "assistant", "content": m.Text, "tool_calls": []params{{"id": "1"}}})
		}
		return out
	}
	switch c.kind {
	case "create":
		return "create_session", params{"session_id": id, "source": l.name}
	case "append":
		c.count = 1
		return "append_message", params{"session_id": id, "role": "user", "content": l.text(c, 0)}
	case "many":
		return "append_messages", params{"session_id": id, "messages": messages()}
	case "replace":
		return "replace_messages", params{"session_id": id, "messages": messages()}
	case "delete":
		return "delete_session", params{"session_id": id, "trash": c.n%2 == 0}
	case "title":
		return "set_session_title", params{"session_id": id, "title": fmt.Sprintf("%s %d", l.name, c.n)}
	case "prompt":
		return "update_system_prompt", params{"session_id": id, "system_prompt": l.text(c, 0)}
	case "end":
		return "end_session", params{"session_id": id, "end_reason": "done"}
	case "tokens":
		return "update_token_counts", params{"session_id": id, "input_tokens": c.n}
	case "meta":
		return "set_meta", params{"key": "crash:" + l.name, "value": l.text(c, 0)}
	case "import":
		var list []params
		for i := range c.count {
			list = append(list, params{
				"id": l.imported(c, i), "source": l.name, "started_at": 1_500_000_000, "ended_at": 1_500_000_100, "end_reason": "old",
				"messages": oldMessages(l.texts(c, nil)),
			})
		}
		return "import_sessions", params{"sessions": list}
	case "prune":
		return "prune_sessions", params{"source": l.name}
	}
	return "vacuum", params{}
}

func oldMessages(ms []message) (out []params) {
	for i, m := range ms {
		out = append(out, params{"role": "user", "content": m.Text, "timestamp": 1_500_000_000 + i})
	}
	return out
}
