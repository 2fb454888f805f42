//go:build linux || darwin

package sqlite

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes is the room that is left in a folder.
func freeBytes(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true // #nosec G115 -- no file system is that large
}

// sameDisk says whether two folders share their room.
func sameDisk(a, b string) bool {
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	if err != nil {
		return false
	}
	sa, ok := ia.Sys().(*syscall.Stat_t)
	sb, ok2 := ib.Sys().(*syscall.Stat_t)
	return ok && ok2 && sa.Dev == sb.Dev
}
