package crashtest

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// strace makes system calls of a process fail: the driver is pure Go, so that
// nothing that is preloaded would see them.
func strace(t *testing.T, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace, which makes system calls fail: apt-get install strace")
	}
	if err := canTrace(); err != nil {
		t.Skipf("strace may not trace here: %v", err)
	}
	return append([]string{path, "-f", "--seccomp-bpf", "-qqq"}, args...)
}

// canTrace says whether the system lets a process be traced: containers may not.
var canTrace = sync.OnceValue(func() error {
	return exec.Command("strace", "-f", "--seccomp-bpf", "-qqq", "-o", os.DevNull, "true").Run()
})

// onFiles restricts a trace to a database and the files beside it.
func onFiles(path string) []string {
	return []string{"-P", path, "-P", path + "-wal", "-P", path + "-shm", "-P", path + "-journal"}
}
