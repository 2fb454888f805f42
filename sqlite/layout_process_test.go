//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// relayRole lays the indexes out, and says where it is.
func relayRole(ctx context.Context, path string, args []string) error {
	s, err := openStore(ctx, path, Options{}, settings{})
	if err != nil {
		return err
	}
	_, err = s.Compact(ctx, engine.CompactOptions{
		Layout:   engine.Layout(args[0]),
		Progress: func(what string, done, total int64) { fmt.Println(what, done, total) },
	})
	return firstError(err, s.Close())
}

// TestRelayKilled kills a process that changes the layout, at each step that it
// reports: the file has the one layout or the other, and every message.
func TestRelayKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	path := fixture.Copy(t, "hermes-v11.db")
	relaid(t, path, engine.External)
	with := schemaOf(t, path)
	relaid(t, path, engine.Inline)
	without := schemaOf(t, path)
	n := scalar[int64](t, raw(t, path), "SELECT COUNT(*) FROM messages")
	to, killed := engine.External, 0
	for steps := 1; killed < 40; steps++ {
		if killAfter(t, process(t, "relay", path, string(to)), steps) {
			killed++
		} else {
			if to == engine.Inline {
				break
			}
			to, steps = engine.Inline, 0
		}
		sound(t, path, indexes...)
		if is := schemaOf(t, path); !slices.Equal(is, with) && !slices.Equal(is, without) {
			t.Fatalf("killed at step %d: schema %s", steps, strings.Join(is, "\n"))
		}
		if have := scalar[int64](t, raw(t, path), "SELECT COUNT(*) FROM messages"); have != n {
			t.Fatalf("killed at step %d: %d of %d messages", steps, have, n)
		}
	}
	if killed < 4 {
		t.Errorf("killed only %d times", killed)
	}
}

// killAfter kills a process when it has printed so many lines; false when it
// ended before.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int) (killed bool) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n := 0; in.Scan(); {
		if n++; n == lines {
			_ = cmd.Process.Signal(syscall.SIGKILL)
			killed = true
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatal(err)
	}
	return killed
}
