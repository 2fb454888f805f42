//go:build linux

package crashtest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

type commandFault struct {
	errno string
	calls []string // nil for all
	says  *regexp.Regexp
}

// commandFaults are how calls of a command fail that touch its files, and what
// it may then say. SQLite opens a file for reading (8) that it can't open for
// writing.
var commandFaults = []commandFault{
	{"EIO", nil, regexp.MustCompile(`input/output error|I/O error|malformed|damage|unable to open|locked|busy|missing|\(8\)`)},
	{
		"ENOSPC", []string{"open", "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "copy_file_range", "mkdirat", "renameat", "renameat2", "linkat"},
		regexp.MustCompile(`no space|free space|is full|I/O error|unable to open|can't be opened|\(8\)`),
	},
	{
		"EINTR", []string{"open", "openat", "read", "write", "pread64", "pwrite64", "ftruncate", "fcntl"},
		regexp.MustCompile(`interrupted|I/O error|locked|busy|unable to open|in use|another program|damage|\(8\)`),
	},
	{killed, nil, nil},
}

// killed is SIGKILL instead of the call.
const killed = "killed"

// fileCalls are the calls that make, change or read files.
const fileCalls = "open,openat,read,write,pread64,pwrite64,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,renameat2," +
	"link,linkat,mkdir,mkdirat,rmdir,fcntl,getdents64,copy_file_range,sendfile,fallocate,fchmod,fchmodat,newfstatat,stat,lstat,fstat"

// Every system call by which a command touches the store, or what it makes of
// it, fails once, and then from some call on for good; and the command is killed
// at each of them.
func TestSystemCallsOfCommandsFail(t *testing.T) {
	strace(t)
	r := random(t)
	var trials []trial
	names := slices.Sorted(maps.Keys(commands))
	if *runFor == 0 {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = names[:few(4)]
	}
	for _, name := range names {
		trials = append(trials, chooseOf(r, name, commands[name].calls(t))...)
	}
	if *runFor == 0 {
		r.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		trials = trials[:min(len(trials), few(commandSample))]
	}
	each(t, trials, func(t *testing.T, x trial) { commands[x.action].try(t, x) })
}

// commandSample is how many trials a run without flags makes, of a few commands.
const commandSample = 12

// each runs trials, as many at a time as there are processors.
func each(t *testing.T, trials []trial, fn func(t *testing.T, x trial)) {
	next := make(chan trial)
	go func() {
		defer close(next)
		for _, x := range trials {
			next <- x
		}
	}()
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for x := range next {
				t.Run(x.String(), func(t *testing.T) { fn(t, x) })
			}
		})
	}
	wg.Wait()
}

// calls tells which of the calls of each kind touch the folder of the store, by
// their number, when nothing disturbs the command.
func (c command) calls(t *testing.T) map[string][]int {
	t.Helper()
	dir := c.begin(t)
	trace := filepath.Join(t.TempDir(), "trace")
	if out, err := c.process(t, dir, strace(t, "-y", "-o", trace, "-e", "trace="+fileCalls, "-e", "signal=none")...).CombinedOutput(); err != nil {
		t.Fatalf("%s, undisturbed: %v: %s", c.line, err, out)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ thread, call string }
	n, found := map[place]int{}, map[string][]int{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+) +(\w+)\((.*)$`).FindAllSubmatch(b, -1) {
		at := place{string(m[1]), string(m[2])}
		n[at]++
		if bytes.Contains(m[3], []byte(dir)) && !slices.Contains(found[at.call], n[at]) {
			found[at.call] = append(found[at.call], n[at])
		}
	}
	return found
}

// chooseOf makes the trials of a command: all, or a few of each kind.
func chooseOf(r *rand.Rand, name string, calls map[string][]int) (out []trial) {
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		for _, f := range commandFaults {
			if f.calls != nil && !slices.Contains(f.calls, call) || *runFor == 0 && call == "fcntl" && f.errno != killed {
				continue // a lock that can't be had is waited for
			}
			for _, n := range calls[call] {
				out = append(out, trial{name, call, f.errno, fmt.Sprint(n)})
				if f.errno != killed && f.errno != "EINTR" && call != "fcntl" { // nobody is interrupted for ever
					out = append(out, trial{name, call, f.errno, fmt.Sprint(n, "+")})
				}
			}
		}
	}
	if *runFor == 0 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:min(len(out), 10)]
	}
	return out
}

// try runs a command with one fault, looks at what is left, and lets it run
// again.
func (c command) try(t *testing.T, x trial) {
	t.Helper()
	dir := c.begin(t)
	how := ":error=" + x.errno
	if x.errno == killed {
		how = ":signal=KILL"
	}
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := c.process(t, dir, strace(t, "-y", "-o", trace, "-e", "trace="+x.call, "-e", "signal=none", "-e", "inject="+x.call+how+":when="+x.when)...)
	out, err := cmd.CombinedOutput()
	hits, _ := os.ReadFile(trace)
	hit := firstInjected(hits)
	var problems []string
	// Before the program begins, a call of the same number may be the loader's.
	if exit, ok := err.(*exec.ExitError); ok && x.errno != killed && bytes.Contains(hit, []byte(dir)) {
		problems = x.said(exit.ExitCode(), string(out))
	}
	kept := snapshot(t, filepath.Join(dir, "state.db"))
	if cmd.ProcessState.ExitCode() == 4 { // told to be incomplete
		_ = os.Remove(filepath.Join(dir, "new.db"))
	}
	problems = append(problems, c.check(t, dir, err == nil && !bytes.Contains(out, []byte("was not removed")))...)
	if len(problems) > 0 {
		t.Logf("%v, said %q\nfailed %s", err, string(out), hit)
	}
	keep(t, kept, problems)
}

// said says what is wrong with how a command told of a fault: one last line
// that has the cause, and no panic.
func (x trial) said(code int, out string) []string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	f := commandFaults[slices.IndexFunc(commandFaults, func(f commandFault) bool { return f.errno == x.errno })]
	last := lines[len(lines)-1]
	switch {
	case code <= 0 || strings.Contains(out, "goroutine "):
		return []string{fmt.Sprintf("exit code %d: %s", code, out)}
	case !strings.HasPrefix(last, "sessiondb: "):
		return []string{fmt.Sprintf("an error without a word: %q", out)}
	case !f.says.MatchString(out):
		return []string{fmt.Sprintf("the cause is not told: %s", last)}
	}
	return nil
}
