package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// Whoever reads our output may go away.
func TestBrokenPipe(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	for _, args := range [][]string{{"export"}, {"list", "--all", "--json"}, {"show", "huge log analysis"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Command("sessiondb", append(args, "--db", path)...)
		cmd.Stdout, cmd.Stderr = w, &stderr
		_ = r.Close() // before anything is written
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, %q", args, err, stderr.String())
		}
	}
}

func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("in a minute: not %s", what)
		}
	}
}

// An import that waits for input ends at an interrupt, and keeps what it has.
func TestInterruptedImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent")
	}
	path := filepath.Join(t.TempDir(), "state.db")
	cmd := exec.Command("sessiondb", "import", "-", "--db", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 { // more than one transaction takes
		if _, err := fmt.Fprintf(in, `{"id":"s%d","source":"cli","started_at":1778000000,"messages":[]}`+"\n", i); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "something has arrived", func() bool {
		out, _ := exec.Command("sessiondb", "list", "--db", path).Output()
		return len(out) > 0
	})
	interrupt(t, cmd)
	if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "sessiondb: interrupted; nothing is half done") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// An import from a named pipe that nobody writes to ends at an interrupt.
func TestInterruptedPipe(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("no named pipes")
	}
	dir := t.TempDir()
	read, silent := filepath.Join(dir, "read"), filepath.Join(dir, "silent")
	if err := exec.Command(mkfifo, read, silent).Run(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "sessiondb", "import", read, silent, "--db", filepath.Join(dir, "state.db"))
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(read, os.O_WRONLY, 0) // waits until it is read
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if _, err := w.WriteString(`{"id":"a","source":"cli","started_at":1778000000,"messages":[]}` + "\n"); err != nil {
		t.Fatal(err)
	}
	interrupt(t, cmd)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%v, %q", err, stderr.String())
	}
}

// An export that is interrupted leaves no file behind, complete ones aside.
func TestInterruptedExport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent")
	}
	const sessions = 400
	path := filepath.Join(t.TempDir(), "state.db")
	many := filepath.Join(t.TempDir(), "many.jsonl")
	var lines bytes.Buffer
	for i := range sessions {
		fmt.Fprintf(&lines, `{"id":"s%d","source":"cli","started_at":%d,"messages":[{"role":"user","content":"%s"}]}`+"\n",
			i, 1778000000+i, strings.Repeat("word ", 10_000))
	}
	if err := os.WriteFile(many, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "import", many, "--db", path)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.jsonl")
	cmd := exec.Command("sessiondb", "export", "-o", out, "--db", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "it has begun to write", func() bool {
		files, _ := os.ReadDir(dir)
		return len(files) > 0
	})
	interrupt(t, cmd)
	err := cmd.Wait()
	files, _ := os.ReadDir(dir)
	if err != nil {
		if len(files) > 0 {
			t.Errorf("%v, and %v is left", err, files)
		}
		return
	}
	b, _ := os.ReadFile(out)
	if n := bytes.Count(b, []byte("\n")); n != sessions || len(files) != 1 {
		t.Errorf("complete, with %d of %d sessions and files %v", n, sessions, files)
	}
}

// A server ends quietly when it is told to.
func TestStoppedServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent")
	}
	cmd := exec.Command("sessiondb", "rpc", "--db", filepath.Join(t.TempDir(), "state.db"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"session_count"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result":0`) {
		t.Fatalf("%v: %s", err, line)
	}
	interrupt(t, cmd)
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
