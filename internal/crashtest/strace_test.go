package crashtest

import (
	"os/exec"
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
	return append([]string{path, "-f", "--seccomp-bpf", "-qqq"}, args...)
}

// onFiles restricts a trace to a database and the files beside it.
func onFiles(path string) []string {
	return []string{"-P", path, "-P", path + "-wal", "-P", path + "-shm", "-P", path + "-journal"}
}
