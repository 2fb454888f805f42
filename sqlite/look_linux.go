package sqlite

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func lookThrough(path string, was os.FileInfo) (bool, error) { return lookNumber(path, 0, was) }
func lookAt(path string, was os.FileInfo) (bool, error) {
	return lookNumber(path, unix.AT_SYMLINK_NOFOLLOW, was)
}

// lookNumber asks for the number of the file alone: Linux 6.13 and newer give a
// file whose times somebody asked for a new time at its next write, which the
// commit then has to wait for (measured: an eighth of an append).
func lookNumber(path string, flags int, was os.FileInfo) (bool, error) {
	w, ok := was.Sys().(*syscall.Stat_t)
	var is unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_INO, &is)
	switch {
	case !ok, err == unix.ENOSYS, err == unix.EPERM: // an older kernel, or a sandbox that knows it not
		stat := os.Stat
		if flags != 0 {
			stat = os.Lstat
		}
		return lookBy(stat)(path, was)
	case err != nil:
		return false, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	return is.Ino == w.Ino && unix.Mkdev(is.Dev_major, is.Dev_minor) == w.Dev, nil
}
