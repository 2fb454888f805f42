package sqlite

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// users lists the processes, of those this user may look into, that have a
// database open. It opens none of its files.
func users(real string) (out []sessiondb.Process) {
	want, err := os.Stat(real)
	if err != nil {
		return nil
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	last := 0
	for _, fd := range fds { // those of one process follow one another
		pid, err := strconv.Atoi(strings.Split(fd, "/")[2])
		if err != nil || pid == last {
			continue
		}
		if target, err := os.Readlink(fd); err != nil || filepath.Base(target) != filepath.Base(real) {
			continue
		}
		if info, err := os.Stat(fd); err != nil || !os.SameFile(info, want) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		out = append(out, sessiondb.Process{PID: pid, Name: strings.TrimSpace(string(name))})
		last = pid
	}
	return out
}
