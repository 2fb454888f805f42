//go:build linux

package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/cli"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func init() { roles["locked"] = lockedRole }

// lockedRole exits with 0 if another process holds the locks of an open store:
// locked PATH. It must be a process of its own, since it opens the files.
func lockedRole(_ context.Context, args []string) int {
	for suffix, at := range map[string]int64{"": sharedBytes, "-shm": deadManBytes} {
		f, err := os.OpenFile(args[0]+suffix, os.O_RDWR, 0)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: at, Len: 1}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil || lock.Type == syscall.F_UNLCK {
			fmt.Printf("%s is not locked (%v)\n", filepath.Base(f.Name()), err)
			return 1
		}
	}
	return 0
}

// Where SQLite locks: whoever has a database with a log open holds a shared
// lock on both.
const (
	sharedBytes  = 0x40000000 + 2
	deadManBytes = 128
)

// POSIX drops the locks that a process holds on a file when any descriptor of
// it is closed. So no call may open a database, its log or its shared memory
// but through SQLite, while it may be open there.
func TestNoCallDropsTheLocks(t *testing.T) {
	if underRace {
		t.Skip("takes minutes under the race detector, and looks for no race")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	path := filepath.Join(dir, "state.db")
	a, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if err := fill(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	locked := func(what string) {
		t.Helper()
		if out, err := as(t, "locked", nil, path).CombinedOutput(); err != nil {
			t.Fatalf("after %s: %s", what, out)
		}
	}
	locked("opening")
	quiet(t)
	for _, c := range lines(dir) {
		cli.Main(append(c, "--db", path)) // whatever comes of it
		locked(strings.Join(c, " "))
	}
	for _, m := range api.Methods {
		b, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if call, err := m.Bind(someParams(m, dir)); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		} else {
			_, _ = call.Do(t.Context(), b) // whatever comes of it
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		locked(m.Name)
	}
	nobodyDeletesTheLog(t, a, path)
}

// nobodyDeletesTheLog: another process opens, lists and closes; what the first
// one then writes is there for a third.
func nobodyDeletesTheLog(t *testing.T, a *sessiondb.DB, path string) {
	if _, err := a.CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	if out, err := as(t, "sessiondb", nil, "list", "--db", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := a.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("quokka")}); err != nil {
		t.Fatal(err)
	}
	out, err := as(t, "sessiondb", nil, "search", "quokka", "--json", "--db", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "quokka") {
		t.Errorf("another process finds %s, %v", out, err)
	}
}

// quiet gives the commands that run in this process no input and no output.
func quiet(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	in, out, stderr := os.Stdin, os.Stdout, os.Stderr
	os.Stdin, os.Stdout, os.Stderr = null, null, null
	t.Cleanup(func() {
		os.Stdin, os.Stdout, os.Stderr = in, out, stderr
		_ = null.Close()
	})
}

// lines are command lines that reach every part of the program. They may
// well fail: an export onto the store itself, a restore while it is in use.
func lines(dir string) [][]string {
	var out [][]string
	for _, line := range []string{
		"list --all", "show s", "search before", "resume s", "lineage s", "usage", "stats", "stats --space", "rename s other",
		"export -o $/out.jsonl", "export -o $/state.db", "export -o $/state.db-wal", "import $/out.jsonl", "import $/state.db", "import $/state.db-shm",
		"doctor", "doctor --full", "doctor --fix --yes", "backup $/copy.db", "backup $/copies --keep 1", "backup --verify $/copy.db",
		"backup --verify $/state.db", "backup $/state.db", "restore $/copy.db --yes", "restore $/state.db --yes", "compact",
		"compact --layout external", "compact --layout inline", "delete old0 --yes", "prune --yes", "recover $/state.db $/recovered.db", "rpc", "version",
	} {
		out = append(out, strings.Fields(strings.ReplaceAll(line, "$", dir)))
	}
	return out
}

// someParams are parameters of the right types for a method.
func someParams(m *api.Method, dir string) json.RawMessage {
	p := map[string]any{}
	for _, param := range m.Params() {
		if !param.Required {
			continue
		}
		switch param.Type {
		case "string":
			p[param.Name] = "s"
		case "integer", "number":
			p[param.Name] = 1
		case "boolean":
			p[param.Name] = false
		case "object":
			p[param.Name] = map[string]any{}
		default:
			p[param.Name] = []any{}
		}
	}
	if m.Name == "backup" {
		p = map[string]any{"path": filepath.Join(dir, "by-rpc.db")}
	}
	b, _ := json.Marshal(p)
	return b
}
