package sessiondb

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors from opening a store.
var (
	// ErrNotStore means that the file is not a session store: another
	// application's database, or no database at all. It was not touched.
	ErrNotStore = errors.New("not a session store")
	// ErrSchemaNewer means that a newer program owns the schema: the store can
	// be read, not written.
	ErrSchemaNewer = errors.New("schema is newer than this program")
	// ErrCorrupt means that pages of the database are damaged. A store that met
	// them in a write refuses further ones until it is opened again.
	ErrCorrupt = errors.New("database is damaged")
)

// Errors from reading and writing.
var (
	// ErrNotFound means that no such session, message or title exists.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous means that a prefix fits several sessions.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrExists means that a session of that id exists with other values.
	ErrExists = errors.New("already exists")
	// ErrTitleTaken means that another session holds the title.
	ErrTitleTaken = errors.New("title is taken")
	// ErrTitleInvalid means that a title is too long.
	ErrTitleInvalid = errors.New("title is invalid")
	// ErrReferenced means that rows which another program keeps in the database
	// point at what was to be deleted. Nothing was deleted.
	ErrReferenced = errors.New("rows of another program refer to it")
	// ErrInvalid means that an argument can't be used.
	ErrInvalid = errors.New("invalid argument")
	// ErrBusy means that others held the write lock for as long as the retry
	// policy allows. Nothing was written.
	ErrBusy = errors.New("database is busy")
	// ErrFull means that the disk, or the quota, is full. Nothing was written.
	ErrFull = errors.New("disk is full")
	// ErrIO means that the system could not open, read, write or lock the file,
	// or one beside it. A write that failed so is not half done; where the disk
	// failed while it was made durable, it may turn out to be there whole.
	ErrIO = errors.New("the file can't be read or written")
	// ErrConnection means that a server can't be reached, or that the connection to
	// it was lost. It is an [ErrIO] too, and what that says of writes holds.
	ErrConnection error = connectionError{}
	// ErrUncertain means that the connection was lost while a write was made
	// durable: it is there whole or not at all, and which is not known. It is also
	// [ErrConnection]. An append with a key ([Once]) can be made again without harm.
	ErrUncertain = errors.New("it is not known whether this was written")
	// ErrReplaced means that the file at the path is no longer the one that is
	// open. Nothing was written, and nothing is read any more.
	ErrReplaced = errors.New("database file was replaced")
	// ErrOtherLog means that the write-ahead log beside the file belongs to another one
	// that was at the path before. Nothing was read or written. It is an [ErrReplaced]
	// too.
	ErrOtherLog error = otherLogError{}
	// ErrReadOnly means that the store was opened, or can only be opened, for
	// reading.
	ErrReadOnly = errors.New("store is read-only")
	// ErrClosed means that Close was called before.
	ErrClosed = errors.New("store is closed")
)

// Errors from copying one store to another.
var (
	// ErrNotEmpty means that the target of a copy holds something else. It was not
	// changed.
	ErrNotEmpty = errors.New("the target of the copy is not empty")
	// ErrUncopied means that something in the source can't be copied as it is.
	ErrUncopied = errors.New("it can't be copied as it is")
	// ErrSourceChanges means that the source was written to each time it was read
	// again. What was copied stays, and can be gone on with.
	ErrSourceChanges = errors.New("the source is being written to all the time")
)

type connectionError struct{}

func (connectionError) Error() string { return "the connection to the server failed" }

func (connectionError) Is(target error) bool { return target == ErrIO }

type otherLogError struct{}

func (otherLogError) Error() string { return "the log of another file is in the way" }

func (otherLogError) Is(target error) bool { return target == ErrReplaced }

// DamageError means that a read met damaged pages and went past them: what could
// be read was returned with it. It is [ErrCorrupt].
type DamageError struct {
	// Tables have rows that can't be read. Without any, only an index is damaged:
	// then nothing is missing.
	Tables []string

	cause error
}

func (e *DamageError) Error() string {
	if len(e.Tables) == 0 {
		return fmt.Sprintf("%v: an index can't be read, no row is missing", ErrCorrupt)
	}
	return fmt.Sprintf("%v: what could be read is shown, rows of %s are missing", ErrCorrupt, strings.Join(e.Tables, " and "))
}

// Is reports whether target is [ErrCorrupt].
func (e *DamageError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap is what the first read failed with.
func (e *DamageError) Unwrap() error { return e.cause }

// LineError tells of a line of a [Transcript] that can't be used.
type LineError struct {
	Line       int64
	SessionID  string // if it is known
	Reason     string
	Unfinished bool // it is the last one, and its writer may not be done
	// Kind names what the line is, if that is nothing which is known: such lines are
	// counted, not told one by one.
	Kind string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// AmbiguousError names the sessions that a prefix fits. It is [ErrAmbiguous].
type AmbiguousError struct {
	Ref        string
	Candidates []string // ids, at most 10, most recently started first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits several sessions: %s", e.Ref, strings.Join(e.Candidates, ", "))
}

// Is reports whether target is [ErrAmbiguous].
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// TitleTakenError names the session that holds a title. It is [ErrTitleTaken].
type TitleTakenError struct {
	Title  string
	Holder string // session id
}

func (e *TitleTakenError) Error() string {
	return fmt.Sprintf("title %q is taken by session %s", e.Title, e.Holder)
}

// Is reports whether target is [ErrTitleTaken].
func (e *TitleTakenError) Is(target error) bool { return target == ErrTitleTaken }

// ExistsError names what differs between a session and the one that was to be
// created under the same id. It is [ErrExists].
type ExistsError struct {
	ID     string
	Fields []string // column names
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("session %s exists with another %s", e.ID, strings.Join(e.Fields, ", "))
}

// Is reports whether target is [ErrExists].
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// BusyError tells what was tried before giving up. It is [ErrBusy].
type BusyError struct {
	Attempts int
	Waited   time.Duration
	Holders  []Process // of the lock, at the end; empty where the system does not tell
}

func (e *BusyError) Error() string {
	who := "another program"
	if len(e.Holders) > 0 {
		who = processes(e.Holders)
	}
	return fmt.Sprintf("database is busy: %s held the write lock through %d attempts in %.1f s", who, e.Attempts, e.Waited.Seconds())
}

// Is reports whether target is [ErrBusy].
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// RoomError tells where the disk has too little room for what was asked, before
// anything of it was done. It is [ErrFull].
type RoomError struct {
	Dir        string
	Need, Have int64 // bytes
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("about %d MB of free space are needed in %s, and there are %d", e.Need>>20+1, e.Dir, e.Have>>20)
}

// Is reports whether target is [ErrFull].
func (e *RoomError) Is(target error) bool { return target == ErrFull }

// Process is a running program.
type Process struct {
	PID  int    // 0 or less where it runs on another machine, or in another container
	Name string // empty where it is not known
}

func (p Process) String() string {
	switch {
	case p.PID <= 0:
		return "a process elsewhere"
	case p.Name == "":
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("%s (process %d)", p.Name, p.PID)
}

func processes(all []Process) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}

// InUseError tells who has a store open that nobody may have open. It is
// [ErrBusy].
type InUseError struct {
	Path  string
	Users []Process // empty where the system does not tell
}

func (e *InUseError) Error() string {
	if len(e.Users) == 0 {
		return e.Path + " is in use by another program"
	}
	return e.Path + " is in use by " + processes(e.Users)
}

// Is reports whether target is [ErrBusy].
func (e *InUseError) Is(target error) bool { return target == ErrBusy }

// SchemaError tells the version found and the newest this program writes. It
// is [ErrSchemaNewer].
type SchemaError struct {
	Have, Want int
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("schema version %d is newer than %d: the store can be read, not written", e.Have, e.Want)
}

// Is reports whether target is [ErrSchemaNewer].
func (e *SchemaError) Is(target error) bool { return target == ErrSchemaNewer }
