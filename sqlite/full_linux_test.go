package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// A disk that is full, for real.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	path := filepath.Join(dir, "state.db")
	s := open(t, path, Options{})
	defer func() { _ = s.Close() }() // before the file system goes
	d := db(s)
	if _, err := d.CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	stored := int64(0)
	var err error
	for ; err == nil; stored++ {
		_, err = d.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text(string(make([]byte, 10_000)))})
	}
	stored--
	if !errors.Is(err, sessiondb.ErrFull) {
		t.Errorf("when full: %v", err)
	}
	if n, err := d.MessageCount(t.Context(), "s"); err != nil || n != stored {
		t.Errorf("%d messages of %d, %v", n, stored, err)
	}
	if err := open(t, path, Options{}).Close(); err != nil {
		t.Errorf("open while full: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AppendMessage(t.Context(), "s", sessiondb.Message{Role: "user", Content: sessiondb.Text("after")}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	consistent(t, path)
}

// A store that nobody has open can be read when not even the files beside it
// have room; a write says that the disk is full.
func TestReadOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	path := filepath.Join(dir, "state.db")
	b, err := os.ReadFile(fixture.Copy(t, "hermes-v1.db"))
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{ReadOnly: true})
	if n, err := db(s).SessionCount(t.Context(), ""); err != nil || n == 0 {
		t.Errorf("%d sessions, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, sessiondb.ErrFull) {
		t.Errorf("open for writing: %v", err)
	}
}

// Where a new store has no room, nothing of it is left.
func TestNewStoreOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	path, filler := filepath.Join(dir, "state.db"), filepath.Join(dir, "filler")
	for _, room := range []int{0, 4096, 8192, 32768} {
		if err := os.WriteFile(filler, make([]byte, 65536-room), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, sessiondb.ErrFull) {
			t.Errorf("with %d bytes: %v", room, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 1 {
			t.Errorf("with %d bytes: %v is left, %v", room, left, err)
		}
		_ = os.Remove(path)
	}
}

// What can't be opened is said with its cause.
func TestMountThatIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
		t.Skip("can't mount a file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	_, err := Open(t.Context(), filepath.Join(dir, "state.db"), Options{})
	if !errors.Is(err, sessiondb.ErrReadOnly) || !strings.Contains(err.Error(), dir+": read-only file system") {
		t.Error(err)
	}
}
