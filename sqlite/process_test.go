//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// roles are what the test binary does when it is started as another process,
// with a database and arguments.
var roles = map[string]func(ctx context.Context, path string, args []string) error{
	"write":   writeRole,
	"append":  appendRole,
	"timed":   timedRole,
	"migrate": migrateRole,
	"denied":  deniedRole,
	"paused":  pausedRole,
	"relay":   relayRole,
}

const roleVariable = "SESSIONDB_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process prepares to run a role.
func process(t *testing.T, role, path string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// runAll runs processes at the same time and returns what they print.
func runAll(t *testing.T, cmds ...*exec.Cmd) []string {
	t.Helper()
	out := make([]string, len(cmds))
	var wg sync.WaitGroup
	for i, cmd := range cmds {
		wg.Go(func() {
			b, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, b)
			}
			out[i] = string(b)
		})
	}
	wg.Wait()
	return out
}

// writeRole has goroutines that each append messages to a session of their own.
func writeRole(ctx context.Context, path string, args []string) error {
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	goroutines, _ := strconv.Atoi(args[1])
	messages, _ := strconv.Atoi(args[2])
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() { errs[g] = appendSome(ctx, d, fmt.Sprintf("%s-%d", args[0], g), messages) })
	}
	wg.Wait()
	return errors.Join(append(errs, d.Close())...)
}

func appendSome(ctx context.Context, d *sessiondb.DB, id string, n int) error {
	if _, err := d.CreateSession(ctx, sessiondb.NewSession{ID: id, Source: "test"}); err != nil {
		return err
	}
	for i := range n {
		m := sessiondb.Message{Role: "user", Content: sessiondb.Text(fmt.Sprintf("message %d of %s", i, id))}
		if _, err := d.AppendMessage(ctx, id, m); err != nil {
			return err
		}
	}
	return nil
}

// appendRole appends until it is killed, and acknowledges each.
func appendRole(ctx context.Context, path string, _ []string) error {
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if _, err := d.CreateSession(ctx, sessiondb.NewSession{ID: "s", Source: "test"}); err != nil {
		return err
	}
	for {
		id, err := d.AppendMessage(ctx, "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("hello")})
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// timedRole appends and prints the longest wait in milliseconds.
func timedRole(ctx context.Context, path string, args []string) error {
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if _, err := d.CreateSession(ctx, sessiondb.NewSession{ID: args[0], Source: "test"}); err != nil {
		return err
	}
	n, _ := strconv.Atoi(args[1])
	var longest time.Duration
	for range n {
		start := time.Now()
		if _, err := d.AppendMessage(ctx, args[0], sessiondb.Message{Role: "user", Content: sessiondb.Text("hello")}); err != nil {
			return err
		}
		longest = max(longest, time.Since(start))
	}
	fmt.Println(longest.Milliseconds())
	return d.Close()
}

// migrateRole stops in the middle of a migration and waits to be killed.
func migrateRole(ctx context.Context, path string, _ []string) error {
	_, err := Open(ctx, path, Options{Progress: func(string, int64, int64) {
		fmt.Println("busy")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
	}})
	return err
}

func TestProcessesLoseNothing(t *testing.T) {
	const processes, goroutines, messages = 8, 4, 15
	path := newPath(t)
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	var cmds []*exec.Cmd
	for p := range processes {
		cmds = append(cmds, process(t, "write", path, fmt.Sprint("p", p), fmt.Sprint(goroutines), fmt.Sprint(messages)))
	}
	want := int64(processes * goroutines * messages)
	if python, err := exec.LookPath("python3"); err == nil {
		cmds = append(cmds, exec.CommandContext(t.Context(), python, "-c", pythonWriter, path, "100"))
		want += 100
	} else {
		t.Log("no python3: without a foreign writer")
	}
	runAll(t, cmds...)
	c := raw(t, path)
	if n := scalar[int64](t, c, "SELECT COUNT(*) FROM messages"); n != want {
		t.Errorf("%d of %d messages", n, want)
	}
	if rows := dump(t, c, `SELECT s.id FROM sessions s WHERE s.message_count <>
 (SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id)`); len(rows) > 0 {
		t.Errorf("counters are wrong in %v", rows)
	}
	if rows := dump(t, c, "SELECT content FROM messages GROUP BY content HAVING COUNT(*) > 1"); len(rows) > 0 {
		t.Errorf("stored twice: %v", rows)
	}
	_ = c.close()
	consistent(t, path)
}

// pythonWriter writes as another program does, by the documented policy.
const pythonWriter = `
import random, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=1.0, isolation_level=None)
def write(fn):
    for attempt in range(15):
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                fn()
                db.execute("COMMIT")
                return
            except BaseException:
                db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as e:
            if "locked" not in str(e) or attempt == 14:
                raise
            time.sleep(random.uniform(0.02, 0.15))
write(lambda: db.execute("INSERT INTO sessions (id, source, started_at) VALUES ('python', 'python', 1)"))
for i in range(int(sys.argv[2])):
    def one():
        db.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('python', 'user', ?, 1)", ("python %d" % i,))
        db.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = 'python'")
    write(one)
`

// Processes that open the same file at the same time make or migrate it once.
func TestProcessesOpenAtOnce(t *testing.T) {
	for name, path := range map[string]string{
		"new": newPath(t), "v1": fixture.Copy(t, "hermes-v1.db"), "v10": fixture.Copy(t, "hermes-v10.db"),
	} {
		t.Run(name, func(t *testing.T) {
			var cmds []*exec.Cmd
			for p := range 8 {
				cmds = append(cmds, process(t, "write", path, fmt.Sprint("p", p), "1", "3"))
			}
			runAll(t, cmds...)
			consistent(t, path)
			if n := scalar[int64](t, raw(t, path), "SELECT COUNT(*) FROM messages WHERE content LIKE 'message % of p%'"); n != 24 {
				t.Errorf("%d of 24 messages", n)
			}
		})
	}
}

func TestKilledWriterLosesNoAcknowledgedMessage(t *testing.T) {
	path := newPath(t)
	cmd := process(t, "append", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	for lines := bufio.NewScanner(out); lines.Scan(); acknowledged++ {
		if acknowledged == 100 {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	c := raw(t, path)
	stored := scalar[int64](t, c, "SELECT COUNT(*) FROM messages")
	if acknowledged < 100 || stored < int64(acknowledged) || stored > int64(acknowledged)+1 {
		t.Errorf("%d acknowledged, %d stored", acknowledged, stored)
	}
	if n := scalar[int64](t, c, "SELECT message_count FROM sessions"); n != stored {
		t.Errorf("counter %d, %d stored", n, stored)
	}
	_ = c.close()
	consistent(t, path)
}

func TestKilledMigrationLeavesTheOldFile(t *testing.T) {
	path := fixture.Copy(t, "hermes-v6.db")
	before := shapeOf(t, raw(t, path))
	cmd := process(t, "migrate", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	after := shapeOf(t, raw(t, path))
	if after.version != before.version || len(after.objects) != len(before.objects) {
		t.Errorf("version %d with %d objects, was %d with %d", after.version, len(after.objects), before.version, len(before.objects))
	}
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	consistent(t, path)
}

// A process that was stopped while it had its turn must not hold up others.
func TestStoppedProcessHoldsNobodyUp(t *testing.T) {
	s := fresh(t)
	q := openQueue(s.path + queueSuffix)
	if !q.usable() {
		t.Skip("no queue on this system")
	}
	release, err := q.acquire(t.Context()) // and never ends its turn
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, put(ctx, "never")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in line: %v", err)
	}
	s.queue.patience = time.Millisecond
	for _, key := range []string{"a", "b"} {
		if err := s.Write(t.Context(), put(t.Context(), key)); err != nil {
			t.Error(err)
		}
	}
	release()
	q.close()
	if err := s.Write(t.Context(), put(t.Context(), "c")); err != nil {
		t.Error(err)
	}
}

// Closing a second store on a file must not cost the first one its locks: the
// next process would take the log for nobody's and delete it.
func TestClosingAnotherHandleKeepsTheLocks(t *testing.T) {
	s := fresh(t)
	if err := s.Write(t.Context(), put(t.Context(), "one")); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if err := open(t, s.path, o).Close(); err != nil {
			t.Fatal(err)
		}
	}
	runAll(t, process(t, "write", s.path, "other", "1", "1"))
	if !exists(s.path + "-wal") {
		t.Fatal("another process deleted the log")
	}
	if err := s.Write(t.Context(), put(t.Context(), "two")); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, s); len(got) != 2 {
		t.Errorf("stored %v", got)
	}
}

// asNobody makes a process run without the rights of root, which write
// protection does not bind. The test binary lies where only root may go, so it
// gets a second name in dir.
func asNobody(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	self := filepath.Join(dir, "test")
	if err := os.Link(cmd.Path, self); err != nil {
		t.Skip("can't make the test binary reachable for another user:", err)
	}
	cmd.Path, cmd.Dir = self, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// deniedRole reads a store that may not be written, and tries to write.
func deniedRole(ctx context.Context, path string, args []string) error {
	d, err := Open(ctx, path, Options{ReadOnly: args[0] == "ro"})
	if err != nil {
		return err
	}
	list, err := d.Sessions(ctx, sessiondb.ListFilter{Limit: -1, Children: true})
	if err != nil {
		return err
	}
	_, err = d.CreateSession(ctx, sessiondb.NewSession{Source: "cli"})
	if !errors.Is(err, sessiondb.ErrReadOnly) {
		return fmt.Errorf("write: %v", err)
	}
	if args[0] == "rw" && !strings.Contains(err.Error(), path) {
		return fmt.Errorf("write: the file is not named: %w", err)
	}
	fmt.Println(len(list), d.Info().ReadOnly)
	return d.Close()
}

// forNobody makes a folder with a copy of a store that belong to the user whom
// asNobody makes of a process.
func forNobody(t *testing.T) (outer, path string) {
	t.Helper()
	outer, err := os.MkdirTemp("", "protected")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "store")
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755); _ = os.RemoveAll(outer) })
	if err := errors.Join(os.Chmod(outer, 0o755), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "state.db")
	b, err := os.ReadFile(fixture.Copy(t, "hermes-v11.db"))
	if err := errors.Join(err, os.WriteFile(path, b, 0o644)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Chown(path, 65534, 65534), os.Chown(dir, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
	}
	return outer, path
}

func TestWriteProtected(t *testing.T) {
	for name, modes := range map[string][2]os.FileMode{
		"file": {0o444, 0o755}, "directory": {0o644, 0o555}, "both": {0o444, 0o555},
	} {
		for _, how := range []string{"rw", "ro"} {
			t.Run(name+" "+how, func(t *testing.T) {
				outer, path := forNobody(t)
				before := hash(t, path)
				if err := errors.Join(os.Chmod(path, modes[0]), os.Chmod(filepath.Dir(path), modes[1])); err != nil {
					t.Fatal(err)
				}
				cmd := process(t, "denied", path, how)
				asNobody(t, cmd, outer)
				if out := runAll(t, cmd)[0]; strings.TrimSpace(out) != "93 true" {
					t.Errorf("printed %q", out)
				}
				if hash(t, path) != before {
					t.Error("the file was changed")
				}
			})
		}
	}
}

// What readers left beside a write-protected store is no obstacle once the
// protection is lifted.
func TestProtectionLifted(t *testing.T) {
	outer, path := forNobody(t)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	read := process(t, "denied", path, "rw")
	asNobody(t, read, outer)
	runAll(t, read)
	if !exists(path + "-wal") {
		t.Fatal("nothing was left")
	}
	again := filepath.Join(outer, "again")
	if err := errors.Join(os.Chmod(path, 0o600), os.Mkdir(again, 0o755)); err != nil {
		t.Fatal(err)
	}
	write := process(t, "write", path, "new", "1", "1")
	asNobody(t, write, again)
	runAll(t, write)
}

// A log that belongs to another user can't be read, and what it holds must not
// be missed in silence: the error names it.
func TestLogOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a log of another user")
	}
	outer, path := forNobody(t)
	s := open(t, path, Options{})
	if err := s.Write(t.Context(), put(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chown(path+"-wal", 0, 0), os.Chown(path+"-shm", 0, 0)); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"rw", "ro"} {
		dir := filepath.Join(outer, how)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := process(t, "denied", path, how)
		asNobody(t, cmd, dir)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), path+"-wal: permission denied") {
			t.Errorf("%s: %v, printed %q", how, err, out)
		}
	}
}
