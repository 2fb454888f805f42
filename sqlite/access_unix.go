//go:build unix

package sqlite

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// canAsk says that mayUse can tell.
const canAsk = true

// mayUse says why this user may not do with a file what the bits say: 4 read,
// 2 write, 1 enter.
func mayUse(path string, bits uint32) error { return unix.Access(path, bits) }

// knowsModes says that permissions mean something here.
const knowsModes = true

// sameOwner says whether two files belong to the same user.
func sameOwner(a, b os.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return !ok || !ok2 || x.Uid == y.Uid
}
