// Package crashtest proves that nothing acknowledged is lost: it kills real
// processes in the middle of their work, lets their system calls fail, and
// looks at the file with plain SQLite afterwards. And it proves that what a
// store holds is printed, and not obeyed. It holds tests only.
package crashtest

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/cli"
)

// The long way: for example
//
//	go test ./internal/crashtest -run Killed -crash.for 2h -timeout 0
var (
	runFor = flag.Duration("crash.for", 0, "go on for so long, instead of a few rounds, in every kind of test")
	seed   = flag.Uint64("crash.seed", 1, "seed of the random choices, 0 for a new one")
)

const roleVariable = "SESSIONDB_CRASH_ROLE"

// roles are what this binary does when it is started as another process.
var roles = map[string]func(ctx context.Context, args []string) int{
	"sessiondb": func(_ context.Context, args []string) int { return cli.Main(args) },
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(roles[role](context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// as prepares this binary to run in a role, behind a tracer if one is given.
func as(t *testing.T, role string, tracer []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(append(append([]string{}, tracer...), self), args...)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// random is the source of choices of a test; its seed is printed on failure.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again with -crash.seed %d (the moments differ)", s)
		}
	})
	return rand.New(rand.NewPCG(s, 0))
}

// rounds yields round numbers: a few, or for as long as the flag says.
func rounds(few int) func(yield func(int) bool) {
	start := time.Now()
	return func(yield func(int) bool) {
		for i := 0; i < few || time.Since(start) < *runFor; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// snapshot copies a database and what lies beside it, while no process has it
// open, so that it can be looked at when a check fails.
func snapshot(t *testing.T, path string) (kept string) {
	t.Helper()
	kept, err := os.MkdirTemp("", "sessiondb-crash-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(kept, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	return kept
}

// keep removes a snapshot again unless problems were found, which it reports.
func keep(t *testing.T, kept string, problems []string) {
	t.Helper()
	if len(problems) == 0 {
		_ = os.RemoveAll(kept)
		return
	}
	for i, p := range problems {
		if i == 10 {
			t.Errorf("and %d more", len(problems)-i)
			break
		}
		t.Error(p)
	}
	t.Fatalf("the file as the check found it is kept in %s", kept)
}
