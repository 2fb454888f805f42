package sqlite

import (
	"fmt"
	"os"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// A log does not say which file it was made for: SQLite plays it into whatever lies
// beside it. Where a store is put in the place of another one that is open, the log of
// that stays, and the next who opens the path makes a mixture of both. So who writes
// notes in the file of the queue for which file the log beside it was made.

// noteLog notes that.
func (s *store) noteLog() {
	note, ok := logNote(s.real)
	if !ok || !s.queue.usable() || note == readNote(s.real) {
		return
	}
	// A note that is cut short is none.
	if _, err := s.queue.file.WriteAt([]byte(note), 0); err == nil {
		_ = s.queue.file.Truncate(int64(len(note)))
	}
}

// logNote is what there is to note of a store, nothing where there is no log.
func logNote(real string) (note string, ok bool) {
	log, ok := birth(real + "-wal")
	if !ok {
		return "", false
	}
	db, ok := birth(real)
	return fmt.Sprintf("log %s of %s\n", log, db), ok
}

// readNote reads what was noted, which may be nothing or anything.
func readNote(real string) string {
	f, err := os.Open(real + queueSuffix) // #nosec G304 -- beside the store that the caller named
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 200)
	n, _ := f.Read(b)
	return string(b[:n])
}

// othersLog says that the log beside a file was made for another one, which was at that
// path before.
func othersLog(real string) bool {
	if !fileHolds(real + "-wal") {
		return false
	}
	is, ok := logNote(real)
	was := readNote(real)
	log, _, _ := strings.Cut(is, " of ")
	return ok && was != is && strings.HasPrefix(was, log+" of ") && strings.HasSuffix(was, "\n")
}

// refuseOthersLog keeps a file from being opened with the log of another one.
func refuseOthersLog(real string) error {
	if !othersLog(real) {
		return nil
	}
	return fmt.Errorf("%w: %s, and SQLite would mix the two: move it and %s away, then open the store",
		sessiondb.ErrOtherLog, whoseLog(real), real+"-shm")
}

func whoseLog(real string) string {
	return fmt.Sprintf("%s-wal was made for the file that was at %s before this one", real, real)
}
