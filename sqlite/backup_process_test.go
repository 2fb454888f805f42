//go:build linux

package sqlite

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

func init() {
	roles["backup"] = backupRole
	roles["restore"] = restoreRole
}

// backupRole and restoreRole do one thing on one thread, since system calls are
// counted by thread.
func backupRole(ctx context.Context, path string, args []string) error {
	runtime.LockOSThread()
	s, err := openStore(ctx, path, Options{ReadOnly: true}, settings{})
	if err != nil {
		return err
	}
	if err := db(s).Backup(ctx, args[0]); err != nil {
		return err
	}
	return s.Close()
}

func restoreRole(ctx context.Context, path string, args []string) error {
	runtime.LockOSThread()
	_, err := Restore(ctx, path, args[0], RestoreOptions{})
	return err
}

// killPoint is a system call at which a process is killed.
type killPoint struct {
	call string
	n    int
}

const killCalls = "pwrite64,write,fdatasync,fsync,ftruncate,unlink,unlinkat,rename,renameat,renameat2,link,linkat,mkdir,mkdirat"

// killPoints lists the system calls that change files in a run of a role.
func killPoints(t *testing.T, role, path string, args ...string) (out []killPoint) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	if b, err := straced(t, process(t, role, path, args...), "-o", trace, "-e", "trace="+killCalls).CombinedOutput(); err != nil {
		t.Skipf("strace: %v: %s", err, b)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(string(b), -1) {
		counts[m[1]]++
		out = append(out, killPoint{m[1], counts[m[1]]})
	}
	return out
}

// straced puts a process under strace. With --seccomp-bpf it would be faster,
// and send no signal.
func straced(t *testing.T, cmd *exec.Cmd, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace, which kills at a system call: apt-get install strace")
	}
	args = append([]string{"-f", "-qqq"}, args...)
	out := exec.CommandContext(t.Context(), path, append(args, cmd.Args...)...)
	out.Env = cmd.Env
	return out
}

// killAt runs a role that is killed at a point, and says whether it got there.
func killAt(t *testing.T, at killPoint, role, path string, args ...string) bool {
	t.Helper()
	cmd := straced(t, process(t, role, path, args...), "-o", "/dev/null", "-e", "trace="+at.call,
		"-e", "inject="+at.call+":signal=KILL:when="+strconv.Itoa(at.n))
	b, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() && cmd.ProcessState.ExitCode() != 128+int(syscall.SIGKILL) {
		t.Errorf("%v: %v: %s", at, err, b)
	}
	return true
}

// aged makes what killed runs left in a folder look older than what is spared.
func aged(t *testing.T, dir string) {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(dir, stagePrefix+"*"))
	for _, f := range found {
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// killsEach is how many moments of a run are tried.
const killsEach = 10

// A restore that is killed leaves what was there or what it restores, and what
// it kept is whole; the next one goes through and tidies up.
func TestRestoreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	backup, want := aBackup(t)
	for _, name := range []string{"hermes-v11.db", "v11-dangling-wal.db", "v11-truncated.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opens := name != "v11-truncated.db"
			var old []string
			if opens {
				old = rowsOf(t, fixture.Copy(t, name))
			}
			damaged := hash(t, fixture.Copy(t, name))
			points := killPoints(t, "restore", fixture.Copy(t, name), backup)
			rand.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			killed := 0
			for _, at := range points[:min(killsEach, len(points))] {
				path := fixture.Copy(t, name)
				if killAt(t, at, "restore", path, backup) {
					killed++
				}
				switch {
				case !opens && hash(t, path) == damaged:
				default:
					if now := rowsOf(t, path); !slices.Equal(now, want) && !slices.Equal(now, old) {
						t.Errorf("killed at %v: neither the old store nor the new one: %d rows", at, len(now))
					}
				}
				kept, _ := filepath.Glob(path + ".before-restore-*Z")
				for _, k := range kept {
					if !slices.Equal(rowsOf(t, k), old) {
						t.Errorf("killed at %v: %s is not what was there", at, k)
					}
				}
				aged(t, filepath.Dir(path))
				if _, err := Restore(t.Context(), path, backup, restoreClock); err != nil {
					t.Errorf("killed at %v: the next one: %v", at, err)
				}
				holdsNow(t, path, want)
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), stagePrefix+"*")); len(left) > 0 {
					t.Errorf("killed at %v: left behind %q", at, left)
				}
			}
			if killed < killsEach/2 {
				t.Errorf("%d of %d were killed", killed, killsEach)
			}
		})
	}
}

// A backup that is killed leaves no file under its name, or a whole one; the
// next one tidies up.
func TestBackupKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	path := fixture.Copy(t, "hermes-v11.db")
	want := rowsOf(t, fixture.Copy(t, "hermes-v11.db"))
	points := killPoints(t, "backup", path, filepath.Join(t.TempDir(), "copy.db"))
	rand.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	killed := 0
	for _, at := range points[:min(killsEach, len(points))] {
		dst := filepath.Join(t.TempDir(), "copy.db")
		if killAt(t, at, "backup", path, dst) {
			killed++
		}
		if exists(dst) && !slices.Equal(rowsOf(t, dst), want) {
			t.Errorf("killed at %v: the backup is not whole", at)
		}
		aged(t, filepath.Dir(dst))
		s := open(t, path, Options{ReadOnly: true})
		if err := db(s).Backup(t.Context(), filepath.Join(filepath.Dir(dst), "next.db")); err != nil {
			t.Errorf("killed at %v: the next one: %v", at, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dst), stagePrefix+"*")); len(left) > 0 {
			t.Errorf("killed at %v: left behind %q", at, left)
		}
	}
	if killed < killsEach/2 {
		t.Errorf("%d of %d were killed", killed, killsEach)
	}
}

// acks counts the lines that a process prints.
func acks(t *testing.T, out io.Reader) *atomic.Int64 {
	t.Helper()
	n := new(atomic.Int64)
	first := make(chan struct{})
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			if n.Add(1) == 1 {
				close(first)
			}
		}
		if n.Load() == 0 {
			close(first)
			t.Error("a writer ended before it wrote")
		}
	}()
	<-first
	return n
}

// otherWriter is a program that writes with plain SQLite and acknowledges.
const otherWriter = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
c.execute("INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES ('p', 'cli', 1778000000.0)")
while True:
    c.execute("BEGIN IMMEDIATE")
    c.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('p', 'user', 'from outside', 1778000000.0)")
    c.execute("COMMIT")
    print("stored", flush=True)
`

// While our processes and others write, each backup holds everything that was
// acknowledged before it began, nothing is missing in between, and it is sound.
func TestBackupWhileProcessesWrite(t *testing.T) {
	s := fresh(t)
	writers := []*exec.Cmd{process(t, "append", s.path), exec.CommandContext(t.Context(), "python3", "-c", otherWriter, s.path)}
	var acked []*atomic.Int64
	for _, cmd := range writers {
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		acked = append(acked, acks(t, out))
	}
	dir := t.TempDir()
	for i := range 6 {
		least := []int64{acked[0].Load(), acked[1].Load()}
		dst := filepath.Join(dir, strconv.Itoa(i))
		r, err := db(s).BackupWithReport(t.Context(), dst)
		if err != nil {
			t.Fatal(err)
		}
		consistent(t, dst)
		c := raw(t, dst)
		for n, id := range []string{"s", "p"} {
			if got := scalar[int64](t, c, "SELECT COUNT(*) FROM messages WHERE session_id = ?", id); got < least[n] {
				t.Errorf("backup %d: %d messages of %s, %d were acknowledged", i, got, id, least[n])
			}
		}
		// Ids are given in the order of the commits: a prefix has no gap.
		if last := scalar[int64](t, c, "SELECT MAX(id) FROM messages"); last != r.Messages {
			t.Errorf("backup %d: %d messages up to %d", i, r.Messages, last)
		}
	}
}

// A disk that is full leaves no part of a backup, and a store as it was.
func TestBackupAndRestoreOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	big := fixture.Copy(t, "hermes-v11.db")
	s := open(t, big, Options{ReadOnly: true})
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	isFull(t, db(s).Backup(t.Context(), filepath.Join(dir, "copy.db")))
	small, want := aBackup(t)
	path := filepath.Join(dir, "state.db")
	if _, err := Restore(t.Context(), path, small, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := Restore(t.Context(), path, big, RestoreOptions{})
	isFull(t, err)
	holdsNow(t, path, want)
	if got := neighbours(t, path); !slices.Equal(got, []string{"filler", ""}) {
		t.Errorf("the folder holds %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func isFull(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("when full: %v", err)
	}
}
