package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// failing runs a command that ends with exit code 1, and returns what it tells.
func failing(t *testing.T, out *os.File, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("sessiondb", args...)
	cmd.Stderr = &stderr
	if out != nil {
		cmd.Stdout = out
	}
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("%s: exit code %d, %s", args, code, stderr.String())
	}
	return stderr.String()
}

// manySessions writes an export of 4 MB.
func manySessions(t *testing.T, path string) {
	t.Helper()
	var b strings.Builder
	words := strings.Repeat("some words ", 4000)
	for i := range 100 {
		fmt.Fprintf(&b, `{"id":"s%d","source":"cli","started_at":1778000000,"messages":[{"role":"user","content":%q,"timestamp":1778000000}]}`+"\n", i, words)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where the disk is full, one line says so, once, with what was not written and where.
func TestToldOfFullDisk(t *testing.T) {
	dir, small := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1536k"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(small, 0) })
	export, store := filepath.Join(dir, "all.jsonl"), filepath.Join(dir, "state.db")
	manySessions(t, export)
	run(t, "--db", store, "import", export)
	transcript := filepath.Join(dir, "claude.jsonl")
	line := `{"type":"user","uuid":"u1","sessionId":"cc","message":{"role":"user","content":"` + strings.Repeat("more words ", 200_000) + `"}}` + "\n"
	if err := os.WriteFile(transcript, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(small, name) }
	full := `disk is full: database or disk is full \(13\)`
	for _, test := range []struct {
		want string
		args []string
	}{
		{`^sessiondb: merge \S+: sessions s\d+ to s\d+: ` + full + `: \S+/state.db; `, []string{"--db", at("state.db"), "merge", store}},
		{`^sessiondb: import: lines \d+ to \d+: ` + full + `: \S+/state.db; `, []string{"--db", at("state.db"), "import", export}},
		{`^sessiondb: import: session cc: ` + full + `: \S+/state.db; `, []string{"--db", at("state.db"), "import", transcript}},
		{`^sessiondb: back up: ` + full + `: ` + small + `; `, []string{"--db", store, "backup", at("b.db")}},
		{`^sessiondb: restore ` + at("state.db") + `: ` + full + `: ` + small + `; `, []string{"--db", at("state.db"), "restore", "--yes", store}},
		{`^sessiondb: export: write ` + at("x.jsonl") + `: no space left on device; free some space`, []string{"--db", store, "export", "-o", at("x.jsonl")}},
		{`^sessiondb: export: write ` + at("x.html") + `: no space left on device; free some space`, []string{"--db", store, "export", "--format", "html", "-o", at("x.html")}},
	} {
		if told := failing(t, nil, test.args...); strings.Count(told, "\n") != 1 || !regexp.MustCompile(test.want).MatchString(told) {
			t.Errorf("%s: %q, want %s", test.args, told, test.want)
		}
		left, _ := filepath.Glob(at("*"))
		for _, path := range left {
			if !strings.HasPrefix(path, at("state.db")) {
				t.Errorf("%s left %s", test.args, path)
			}
			_ = os.Remove(path)
		}
	}
}

// What can't be printed is a failure of every command that prints.
func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	store := fixture.Copy(t, "hermes-v11.db")
	for _, command := range []string{
		"--help", "help list", "list --help", "completion bash", "version", "list", "list --json", "show fill_15_0d", "search docker",
		"resume fill_15_0d", "lineage fill_15_0d", "usage", "stats --json", "tag fill_15_0d +work", "tag list", "rename fill_15_0d title",
		"export", "export --format html", "export --format markdown", "doctor --json --db nowhere.db", "backup --verify STORE",
		"delete --dry-run fill_15_0d", "trash empty --yes", "prune --older-than 1d --dry-run", "fork fill_15_0d", "demo",
	} {
		args := strings.Fields(strings.ReplaceAll(command, "STORE", store))
		if !strings.Contains(command, "--db") {
			args = append(args, "--db", store)
		}
		told := failing(t, full, args...)
		if !strings.Contains(told, "write /dev/stdout: no space left on device; ") || strings.Count(told, "no space") != 1 {
			t.Errorf("%s: %q", command, told)
		}
	}
}
