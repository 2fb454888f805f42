package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// largeWAL is the size of a log, in bytes, that is worth a word: it starts over
// long before, unless a reader or a copy keeps it from that.
const largeWAL = 64 << 20

// lookAround looks at the files of a store from outside. It opens none.
func (s *store) lookAround() (out []engine.Finding) {
	out = append(out, lookAtModes(s.real)...)
	if info, err := os.Stat(s.real + "-wal"); err == nil && info.Size() >= largeWAL {
		out = append(out, engine.Finding{Code: "wal_large", What: fmt.Sprintf("the write-ahead log takes %d MiB", info.Size()>>20)})
	}
	for _, dir := range leftStages(filepath.Dir(s.real)) {
		out = append(out, engine.Finding{Code: "partial_left", What: dir + " is what a backup, a restore or a recovery left that was killed"})
	}
	if kind := networkFS(s.real); kind != "" {
		out = append(out, engine.Finding{Code: "network_fs", What: "the file is on a file system of type " + kind})
	}
	return append(out, lookAtHolders(s.real)...)
}

// lookAtModes sees who may read the files, and whose they are.
func lookAtModes(real string) (out []engine.Finding) {
	db, err := os.Lstat(real)
	if err != nil {
		return nil
	}
	for _, suffix := range ofSQLite {
		info, err := os.Lstat(real + suffix)
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 && knowsModes {
			out = append(out, engine.Finding{Code: "permissions", Fix: "chmod 600 " + sessiondb.ShellQuote(real+suffix),
				What: fmt.Sprintf("everybody may use %s: its mode is %04o", real+suffix, info.Mode().Perm())})
		}
		if suffix != "" && !sameOwner(info, db) {
			out = append(out, engine.Finding{Code: "owner", Fix: "chown --reference=" + sessiondb.ShellQuote(real) + " " + sessiondb.ShellQuote(real+suffix),
				What: real + suffix + " belongs to another user than the store: neither can write for long"})
		}
	}
	return out
}

// lookAtHolders names the programs that have the file open, or locked, now.
func lookAtHolders(real string) (out []engine.Finding) {
	users, known := holders(real)
	if !known {
		return nil
	}
	users = slices.DeleteFunc(users, func(h holder) bool { return h.pid == os.Getpid() })
	var names, writers []string
	for _, h := range users {
		names = append(names, h.String())
		if h.writes {
			writers = append(writers, h.String())
		}
	}
	if len(names) > 0 {
		out = append(out, engine.Finding{Code: "in_use", What: "in use by " + strings.Join(names, ", ")})
	}
	if len(writers) > 0 {
		out = append(out, engine.Finding{Code: "write_locked", What: strings.Join(writers, ", ") + " holds the write lock"})
	}
	return out
}

// holder is a process that has a store open.
type holder struct {
	pid    int
	name   string // of its command, empty where it is not known
	writes bool   // it holds the write lock
}

func (h holder) process() sessiondb.Process { return sessiondb.Process{PID: h.pid, Name: h.name} }

func (h holder) String() string { return h.process().String() }

// othersWriting are the other processes that hold the write lock now, where the
// system tells.
func othersWriting(real string) (out []sessiondb.Process) {
	all, _ := holders(real)
	for _, h := range all {
		if h.writes && h.pid != os.Getpid() {
			out = append(out, h.process())
		}
	}
	return out
}
