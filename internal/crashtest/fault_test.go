//go:build linux

package crashtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// fault is a way for a system call to fail, and what the error must then be.
type fault struct {
	errno string
	calls []string
	kinds []string
}

// EINTR only where the kernel can, if only on network file systems.
var faults = []fault{
	{"EIO", []string{"open", "pwrite64", "fdatasync", "ftruncate", "mmap", "unlink", "stat", "lstat", "fstat", "newfstatat"}, []string{"io"}},
	{"EIO", []string{"pread64"}, []string{"io", "corrupt"}}, // FTS5 calls a page of its own malformed that it can't read
	{"ENOSPC", []string{"open", "pwrite64", "fdatasync", "ftruncate", "mmap"}, []string{"full", "io"}},
	{"EINTR", []string{"open", "pread64", "pwrite64", "ftruncate", "fcntl"}, []string{"busy", "io", "replaced"}},
	// A lock that can't be given back is taken for somebody else's.
	{"EIO", []string{"fcntl"}, []string{"busy", "io", "replaced"}},
	{"ENOLCK", []string{"fcntl"}, []string{"busy", "io", "replaced"}},
}

// trial is one run of an action with one fault.
type trial struct {
	action string
	call   string
	errno  string
	when   string // strace's expression: which of the calls fail
}

func (x trial) String() string { return fmt.Sprintf("%s/%s/%s/%s", x.action, x.call, x.errno, x.when) }

// Every system call that touches the database fails once, and then from some
// call on for good: what was acknowledged is there afterwards, and what was not
// is an error.
func TestSystemCallsFail(t *testing.T) {
	strace(t)
	r := random(t)
	each(t, choose(r, countAll(t)), try)
}

// countAll counts the calls of each action that nothing disturbs.
func countAll(t *testing.T) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		path := prepared(t, name)
		trace := filepath.Join(t.TempDir(), "trace")
		out, err := traced(t, path, name, "-o", trace, "-e", "trace=%file,%desc,fcntl").CombinedOutput()
		if err != nil {
			t.Fatalf("%s, undisturbed: %v: %s", name, err, out)
		}
		if got, want := acknowledged(out), actions[name].acks; !slices.Equal(got, want) {
			t.Fatalf("%s, undisturbed: %q, want %q", name, got, want)
		}
		counts[name] = map[string]int{}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllSubmatch(b, -1) {
			counts[name][string(m[1])]++
		}
		t.Log(name, counts[name])
	}
	return counts
}

// choose picks trials: a few of each kind, or all of them in the long way.
func choose(r *rand.Rand, counts map[string]map[string]int) (out []trial) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		for _, f := range faults {
			for _, call := range f.calls {
				for _, when := range moments(r, counts[name][call]) {
					if f.errno == "EINTR" && strings.HasSuffix(when, "+") {
						continue // nobody is interrupted for ever
					}
					if *runFor == 0 && call == "fcntl" && strings.HasSuffix(when, "+") {
						continue // that is a wait of many seconds
					}
					out = append(out, trial{name, call, f.errno, when})
				}
			}
		}
	}
	if *runFor == 0 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:min(len(out), few(sample))]
	}
	return out
}

// sample is how many trials a run without flags makes.
const sample = 80

// moments says which of n calls fail: each alone, and each with all after it.
func moments(r *rand.Rand, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(i+1), fmt.Sprint(i+1, "+"))
	}
	if *runFor == 0 && len(out) > 4 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:4]
	}
	return out
}

// prepared makes the store that an action begins with.
func prepared(t *testing.T, name string) string {
	t.Helper()
	a := actions[name]
	if a.fixture != "" {
		return fixture.Copy(t, a.fixture)
	}
	path := filepath.Join(t.TempDir(), "state.db")
	if a.absent {
		return path
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.prepare(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func traced(t *testing.T, path, name string, args ...string) *exec.Cmd {
	t.Helper()
	args = append(args, "-e", "signal=none")
	return as(t, "act", strace(t, append(onFiles(path), args...)...), path, name)
}

// acknowledged are the lines of a process after "opened", without an error.
func acknowledged(out []byte) (acks []string) {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "opened" && !strings.HasPrefix(line, "error ") {
			acks = append(acks, line)
		}
	}
	return acks
}

// try runs one trial and looks at what is left.
func try(t *testing.T, x trial) {
	a := actions[x.action]
	path := prepared(t, x.action)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := traced(t, path, x.action, "-o", trace, "-e", "trace="+x.call, "-e", "inject="+x.call+":error="+x.errno+":when="+x.when)
	out, err := cmd.Output()
	acks := acknowledged(out)
	problems := told(x, a, out, err)
	kept := snapshot(t, path)
	problems = append(problems, x.left(t.Context(), a, path, acks)...)
	if len(problems) > 0 {
		hits, _ := os.ReadFile(trace)
		t.Logf("printed %q\nfailed %s", out, firstInjected(hits))
	}
	keep(t, kept, problems)
}

func firstInjected(trace []byte) []byte {
	for line := range bytes.Lines(trace) {
		if bytes.Contains(line, []byte("INJECTED")) {
			return line
		}
	}
	return []byte("nothing")
}

var errorLine = regexp.MustCompile(`(?m)^error (\w+): (.+)$`)

// told says whether the process said the truth: success with all it should
// have done, or one error of the right kind.
func told(x trial, a action, out []byte, err error) (problems []string) {
	m := errorLine.FindSubmatch(out)
	switch {
	case err == nil && m != nil:
		problems = append(problems, "an error, and exit code 0")
	case err == nil && !slices.Equal(acknowledged(out), a.acks):
		problems = append(problems, fmt.Sprintf("silence: acknowledged %q of %q", acknowledged(out), a.acks))
	case err != nil && m == nil:
		problems = append(problems, fmt.Sprintf("%v, and no error printed: %s", err, stderrOf(err)))
	case err != nil:
		i := slices.IndexFunc(faults, func(f fault) bool { return f.errno == x.errno && slices.Contains(f.calls, x.call) })
		kind := string(m[1])
		if kind == "read_only" && strings.Contains(string(m[2]), "(8)") {
			return nil // SQLite itself opens a log for reading then
		}
		if kind == "full" && strings.Contains(string(m[2]), "(4874)") {
			return nil // SQLite says no more than that the file of the locks can't grow
		}
		if !slices.Contains(faults[i].kinds, kind) {
			problems = append(problems, fmt.Sprintf("error of kind %s, want %v: %s", kind, faults[i].kinds, m[2]))
		}
	}
	return problems
}

func stderrOf(err error) []byte {
	if e, ok := err.(*exec.ExitError); ok {
		return e.Stderr
	}
	return nil
}

// left looks at the store once nothing fails any more.
func (x trial) left(ctx context.Context, a action, path string, acks []string) []string {
	if err := reopen(ctx, path); err != nil {
		return []string{fmt.Sprintf("open afterwards: %v", err)}
	}
	if err := mend(ctx, path); err != nil {
		return []string{fmt.Sprintf("mend afterwards: %v", err)}
	}
	j := plain(path)
	if a.fixture == "" {
		j.sound()
	} else {
		j.reachable()
	}
	a.stored(j, acks)
	return j.close()
}
