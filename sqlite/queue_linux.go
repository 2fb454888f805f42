package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canQueue says that this system has locks that belong to an open file, not to
// the process: two stores of one process queue too.
const canQueue = true

// lockRange takes a lock; without wait it fails when somebody else has it.
func lockRange(f *os.File, n int64, wait bool) error {
	cmd := unix.F_OFD_SETLK
	if wait {
		cmd = unix.F_OFD_SETLKW
	}
	for {
		err := unix.FcntlFlock(f.Fd(), cmd, &unix.Flock_t{Type: unix.F_WRLCK, Start: n, Len: 1})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func unlockRange(f *os.File, n int64) {
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: n, Len: 1})
}
