package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// A dump that finds no room is told of by its name, and nothing of it is left.
func TestDumpOnFullDisk(t *testing.T) {
	db, _ := open(t)
	dir := t.TempDir()
	session(t, db, "a")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	path := filepath.Join(dir, "x.dump")
	err := db.Backup(t.Context(), path)
	if !errors.Is(err, sessiondb.ErrFull) || !strings.HasSuffix(err.Error(), ": "+path+": "+syscall.ENOSPC.Error()) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
