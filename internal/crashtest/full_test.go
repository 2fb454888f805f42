//go:build linux

package crashtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk gets full, for real, under each command that works on the whole store:
// it says so or succeeds, what was there is there, and with room again the
// command does what it should.
func TestCommandsOnFullDisk(t *testing.T) {
	r := random(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	full := 0
	for name, c := range commands {
		for range rounds(few(1)) {
			at := filepath.Join(dir, "store")
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.onFullDisk(t, name, at, r.Float64()) {
				full++
			}
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if full == 0 && !underRace {
		t.Error("the disk was never full")
	}
}

// onFullDisk runs a command where so much is free, in sizes of the store, and
// returns whether that was too little.
func (c command) onFullDisk(t *testing.T, name, dir string, free float64) (full bool) {
	t.Helper()
	c.beginIn(t, dir)
	info, err := os.Stat(filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(filepath.Dir(dir), "filler")
	fillDisk(t, filler, int64(free*float64(info.Size())))
	out, err := c.process(t, dir).CombinedOutput()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	var problems []string
	if exit, ok := err.(*exec.ExitError); ok {
		full = true
		problems = trial{errno: "ENOSPC"}.said(exit.ExitCode(), string(out))
	}
	kept := snapshot(t, filepath.Join(dir, "state.db"))
	problems = append(problems, c.check(t, dir, err == nil && !bytes.Contains(out, []byte("was not removed")))...)
	if len(problems) > 0 {
		t.Logf("%s with %.2f of the store free: %s", name, free, out)
	}
	keep(t, kept, problems)
	return full
}

// fillDisk makes a file that leaves so many bytes free.
func fillDisk(t *testing.T, path string, free int64) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &fs); err != nil {
		t.Fatal(err)
	}
	size := int64(fs.Bavail)*fs.Bsize - free
	if err := os.WriteFile(path, make([]byte, max(0, size)), 0o600); err != nil {
		t.Fatal(err)
	}
}
