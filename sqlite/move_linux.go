package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// moveNew renames a file to a name that nothing has; otherwise it is
// os.ErrExist.
func moveNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch err {
	case nil:
		return nil
	case unix.EINVAL, unix.ENOSYS: // a file system, or a kernel, without
		return linkNew(from, to)
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
