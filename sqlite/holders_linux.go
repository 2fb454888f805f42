package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Where SQLite puts its locks: the one for writing in a rollback journal is a
// byte of the database, that of a write-ahead log one of the shared memory.
const (
	reservedByte = 0x40000000 + 1
	walWriteByte = 120
)

// holders finds the processes that have a store open: by the locks, which
// everybody can read, and by the open files of this user's processes. known is
// false where the system does not tell.
func holders(real string) (out []holder, known bool) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	byPID := map[int]*holder{}
	note := func(pid int) *holder {
		if byPID[pid] == nil {
			byPID[pid] = &holder{pid: pid, name: commandOf(pid)}
		}
		return byPID[pid]
	}
	db, shm := fileID(real), fileID(real+"-shm")
	for s := bufio.NewScanner(f); s.Scan(); {
		l, ok := parseLock(s.Text())
		if !ok || l.file != db && l.file != shm {
			continue
		}
		h := note(l.pid)
		writeByte := int64(reservedByte)
		if l.file == shm {
			writeByte = walWriteByte
		}
		h.writes = h.writes || l.write && l.from <= writeByte && writeByte <= l.to
	}
	for _, pid := range openers(real) {
		note(pid)
	}
	for _, h := range byPID {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b holder) int { return a.pid - b.pid })
	return out, true
}

// fileLock is a line of /proc/locks.
type fileLock struct {
	pid      int
	file     string // device and inode
	write    bool
	from, to int64
}

// parseLock reads a line such as
//
//	1: POSIX  ADVISORY  WRITE 4711 08:02:131 120 120
//
// One with an arrow waits for a lock, and holds none.
func parseLock(line string) (l fileLock, ok bool) {
	w := strings.Fields(line)
	if len(w) < 8 || w[1] != "POSIX" && w[1] != "OFDLCK" {
		return l, false
	}
	pid, err := strconv.Atoi(w[4])
	from, err2 := strconv.ParseInt(w[6], 10, 64)
	to, err3 := strconv.ParseInt(w[7], 10, 64)
	if w[7] == "EOF" {
		to, err3 = 1<<62, nil
	}
	return fileLock{pid, w[5], w[3] == "WRITE", from, to}, err == nil && err2 == nil && err3 == nil
}

// fileID is how /proc/locks calls a file, empty when there is none.
func fileID(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "-"
	}
	dev := uint64(st.Dev) // #nosec G115 -- 32 bits, of another type on some systems
	return fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
}

// commandOf is the name of a process, empty when it can't be told.
func commandOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// openers lists the processes, of those this user may look into, that have the
// database open.
func openers(real string) (pids []int) {
	want, err := os.Stat(real)
	if err != nil {
		return nil
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil || filepath.Base(target) != filepath.Base(real) {
			continue
		}
		if info, err := os.Stat(fd); err != nil || !os.SameFile(info, want) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(fd, "/")[2]); err == nil && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// networkFS names the type of a network file system that holds the file, empty
// for one of this machine.
func networkFS(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return ""
	}
	return map[int64]string{
		unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb",
		unix.AFS_SUPER_MAGIC: "afs", unix.CEPH_SUPER_MAGIC: "ceph", unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "fuse",
		unix.CODA_SUPER_MAGIC: "coda", unix.NCP_SUPER_MAGIC: "ncp",
	}[int64(uint32(st.Type))] // #nosec G115 -- 32 bits, of another type on some systems
}
