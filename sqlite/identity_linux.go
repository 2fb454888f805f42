package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileIdentity tells a file from every other, on other machines too: it stays
// when the file is moved or written to.
func fileIdentity(path string) (string, error) {
	if id, ok := birth(path); ok {
		return id, nil
	}
	return nameIdentity(path)
}

// birth tells a file from every other that was ever at its place, where the system
// can tell. A number of a file may be used again, so the time it was made is part
// of it.
func birth(path string) (id string, ok bool) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return "", false
	}
	return fmt.Sprintf("%d %d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec), true
}
