package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sessiondb-go/sessiondb/internal/cli"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessiondb": func() { os.Exit(cli.Main(os.Args[1:])) },
	})
}

// TestScript runs the scripts: each command with good and bad input.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("HERMES_HOME", "")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fixture":   func(ts *testscript.TestScript, neg bool, args []string) { copyFixture(t, ts, args) },
			"remember":  remember,
			"unchanged": unchanged,
			"code":      code,
			"mode":      mode,
			"nothing":   nothing,
		},
	})
}

// copyFixture NAME FOLDER copies a store and its journals into a folder of the
// script.
func copyFixture(t *testing.T, ts *testscript.TestScript, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: fixture NAME FOLDER")
	}
	from := filepath.Dir(fixture.Copy(t, args[0]))
	to := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(to, 0o777))
	ts.Check(os.CopyFS(to, os.DirFS(from)))
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := os.Rename(filepath.Join(to, args[0]+suffix), filepath.Join(to, "state.db"+suffix)); suffix == "" {
			ts.Check(err)
		}
	}
}

// remember FILE keeps the checksum of a file for unchanged.
func remember(ts *testscript.TestScript, neg bool, args []string) {
	for _, f := range args {
		ts.Setenv("SUM_"+f, checksum(ts, f))
	}
}

// unchanged FILE fails if a file is not as it was at remember; ! unchanged if
// it is.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	for _, f := range args {
		if same := ts.Getenv("SUM_"+f) == checksum(ts, f); same == neg {
			ts.Fatalf("%s: unchanged is %v", f, same)
		}
	}
}

func checksum(ts *testscript.TestScript, file string) string {
	b, err := os.ReadFile(ts.MkAbs(file))
	ts.Check(err)
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// code N ARGS... runs sessiondb and expects an exit code.
func code(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("sessiondb", args[1:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if want := args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s (%v)", got, want, err)
	}
}

// mode PERM FILE expects permissions, where files have them.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] && runtime.GOOS != "windows" {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// nothing GLOB expects that no file has such a name.
func nothing(ts *testscript.TestScript, neg bool, args []string) {
	if found, _ := filepath.Glob(ts.MkAbs(args[0])); len(found) > 0 {
		ts.Fatalf("there is %s", found)
	}
}
