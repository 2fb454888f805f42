package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/postgres"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailed   = 1 // the command was understood and failed
	exitUsage    = 2 // the command line makes no sense
	exitNotFound = 3 // no such session, message or title
	exitLost     = 4 // done, but some of it is missing for ever
	exitUnsound  = 5 // doctor found something that can be mended
	exitDamaged  = 6 // doctor found that something is lost, or can't be read
)

// Errors that only a command line has.
var (
	errNoStore     = errors.New("there is no store")
	errUnconfirmed = errors.New("not confirmed")
	errNoTerminal  = errors.New("there is no terminal to ask on")
	errNoScreen    = errors.New("there is no terminal to show a screen on")
	errInterrupted = errors.New("interrupted")
	errNeedsWriter = errors.New("only an open for writing can mend it")
	errPartly      = errors.New("not all of it is done")
	errIncomplete  = errors.New("something is missing")
	errBadBackup   = errors.New("the backup can't be used")
	errNoWreck     = errors.New("nothing can be recovered")
	errUnusable    = errors.New("it is no store that can be used")
	errUnsound     = errors.New("the store needs care")
	errBeyond      = errors.New("it can't be mended in place")
	errDamaged     = errors.New("the store is damaged")
	errNotInTrash  = errors.New("not in the trash")
	errInTheWay    = errors.New("the id is in use again")
	errNoRoom      = error(syscall.ENOSPC)
)

// outcomes says for each kind of error which exit code it has and what to do
// next. The first that fits counts.
var outcomes = []struct {
	is   error
	code int
	hint string
}{
	{errUnconfirmed, exitFailed, "nothing was changed"},
	{errNoTerminal, exitUsage, "nothing was changed; pass --yes to go ahead, or --dry-run to see what would happen"},
	{errNoScreen, exitUsage, "'sessiondb list' and 'sessiondb search' print what is there"},
	{errInterrupted, exitFailed, "nothing is half done; run it again to go on"},
	{errPartly, exitFailed, "what was done so far stays; run it again to go on"},
	{errIncomplete, exitLost, "keep the damaged file until you know that you don't miss it"},
	{errBadBackup, exitFailed, "nothing was changed; use another backup"},
	{errNoWreck, exitFailed, "the file was not touched; check the path, or restore a backup"},
	{errUnusable, exitDamaged, ""}, // its text says what to do
	{errUnsound, exitUnsound, "each line says what mends it"},
	{errBeyond, exitDamaged, "nothing was changed; 'sessiondb recover' saves what can be read into a new store"},
	{errDamaged, exitDamaged, "keep the file and its -wal as they are until each line is looked after"},
	{errNoStore, exitFailed, "name one with --db FILE or $HERMES_HOME, fill a new one with 'sessiondb import', or try 'sessiondb demo'"},
	{errNeedsWriter, exitFailed, "'sessiondb doctor --fix' does that, and so does any command that writes"},
	{sessiondb.ErrNotEmpty, exitFailed, "it was left as it is; give a new file, or an empty schema of a server"},
	{sessiondb.ErrUncopied, exitFailed, "the source is as it was; 'sessiondb doctor --db SOURCE' says what can be mended"},
	{sessiondb.ErrSourceChanges, exitFailed, "what was copied stays; stop the programs that write to the source, and run it again to go on"},
	{errNotInTrash, exitNotFound, "'sessiondb trash list' shows what is there"},
	{errInTheWay, exitFailed, "nothing was changed; delete that one first"},
	{sessiondb.ErrAmbiguous, exitFailed, "give more of the id"},
	{sessiondb.ErrTitleTaken, exitFailed, "choose another title, or rename that session first"},
	{sessiondb.ErrTitleInvalid, exitUsage, "shorten the title"},
	{sessiondb.ErrNotFound, exitNotFound, "'sessiondb list' and 'sessiondb search' show what is there"},
	{sessiondb.ErrSchemaNewer, exitFailed, "use the newer program that made it to change this store; reading it works here"},
	{sessiondb.ErrNotStore, exitFailed, "check the path given with --db or $HERMES_HOME; the file was not touched"},
	{sessiondb.ErrCorrupt, exitFailed, "keep the file and its -wal as they are; 'sessiondb doctor' says what is damaged, and 'sessiondb recover' saves what can be read"},
	{sessiondb.ErrBusy, exitFailed, "nothing was written; try again when the other program is done"},
	{sessiondb.ErrFull, exitFailed, "nothing was written; free some space and try again"},
	{sessiondb.ErrOtherLog, exitFailed, "nothing was read or written"},
	{sessiondb.ErrReplaced, exitFailed, "nothing was written; run the command again to use the file that is there now"},
	{error(syscall.EROFS), exitFailed, "nothing was written; the place is mounted for reading only: choose another one"},
	{sessiondb.ErrReadOnly, exitFailed, "nothing was written; check the permissions of the file and its folder"},
	{sessiondb.ErrReferenced, exitFailed, "nothing was deleted; remove what the other program keeps about this session first"},
	{sessiondb.ErrExists, exitFailed, "use another id"},
	{sessiondb.ErrInvalid, exitUsage, "see --help"},
	{sessiondb.ErrUncertain, exitFailed, ""},
	{sessiondb.ErrIO, exitFailed, "nothing is half written; look for what the system says of the disk, and try again"},
	{fs.ErrExist, exitFailed, "nothing is ever overwritten: choose another name"},
	{fs.ErrPermission, exitFailed, "check the permissions of the file and its folder"},
	{fs.ErrNotExist, exitFailed, "check the path"},
	{errNoRoom, exitFailed, "free some space and try again"},
	{error(syscall.EISDIR), exitFailed, "give a file"},
	{error(syscall.ENOTDIR), exitFailed, "check the path"},
	{error(syscall.ENAMETOOLONG), exitFailed, "check the path"},
	{error(syscall.ELOOP), exitFailed, "check the path: links lead in a circle"},
}

// serverHints are the hints for a store on a server, where they differ.
var serverHints = []struct {
	is   error
	hint string
}{
	{sessiondb.ErrUncertain, "look whether it was done before you do it again"},
	{sessiondb.ErrConnection, "check the address and the user, and whether the server runs; what was acknowledged is safe"},
	{sessiondb.ErrReadOnly, "nothing was written; give the user of the database the rights of an owner, or name another one in the address"},
	{fs.ErrPermission, "check the user and search_path in the address; who owns the schema can GRANT USAGE on it, and SELECT or more on its tables"},
	{sessiondb.ErrNotStore, "check search_path in the address; nothing was touched"},
	{sessiondb.ErrCorrupt, "the server's log says more; pg_amcheck looks for damage, and a dump or a standby has what was lost"},
	{sessiondb.ErrFull, "nothing was written; free space on the server and try again"},
	{sessiondb.ErrIO, "nothing is half written; the server's log says more"},
}

// storeError is an error of a store, which is on a server or a file.
type storeError struct {
	error
	onServer bool
}

func (e storeError) Unwrap() error { return e.error }

// toldOf says which store an error is of, where nothing said so before. What a
// database itself said is of a store of its kind, though another one was at work.
func toldOf(path string, err error) error {
	if e := (storeError{}); err == nil || errors.As(err, &e) {
		return err
	}
	return storeError{err, postgres.Said(err) || onServer(path) && !sqlite.Said(err)}
}

// serverHint is the hint for such an error, empty where it is that of any store.
func serverHint(err error) string {
	if e := (storeError{}); !errors.As(err, &e) || !e.onServer || errors.Is(err, errNoRoom) { // which is here
		return ""
	}
	for _, o := range serverHints {
		if errors.Is(err, o.is) {
			return o.hint
		}
	}
	return ""
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// failure is an error told in our own words.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

func failf(err error, format string, args ...any) error {
	return &failure{text: fmt.Sprintf(format, args...), err: err}
}

// report prints an error as one line (what failed, why, what to do next) and
// returns the exit code.
func (a *app) report(ctx context.Context, command string, err error) int {
	if err == nil || unread(err) {
		return exitOK
	}
	if ctx.Err() != nil {
		err = errInterrupted
	}
	code, hint := outcome(command, err)
	line := strings.Join(strings.Fields(term.Line(reasonsOnce(pathOnce(err)))), " ")
	if hint != "" {
		line += "; " + hint
	}
	_, _ = fmt.Fprintf(a.Err, "sessiondb: %s\n", line)
	return code
}

// pathOnce is the text of an error. Where a call failed on a path that the text
// names before, it is not named again.
func pathOnce(err error) string {
	text := err.Error()
	if e := (*fs.PathError)(nil); errors.As(err, &e) && strings.Index(text, e.Path) < strings.Index(text, e.Error()) {
		return strings.Replace(text, e.Error(), e.Err.Error(), 1)
	}
	return text
}

// reasonsOnce is the text of an error as one line. Where several were joined, one a
// line, what another one says as well is left out.
func reasonsOnce(text string) string {
	var said []string
	for reason := range strings.Lines(text) {
		reason = strings.TrimSpace(reason)
		if !slices.ContainsFunc(said, func(before string) bool { return strings.Contains(before, reason) }) {
			said = append(said, reason)
		}
	}
	return strings.Join(said, "; ")
}

func outcome(command string, err error) (code int, hint string) {
	if u := (usageError{}); errors.As(err, &u) {
		if _, hint := outcome(command, u.error); hint != "" {
			return exitUsage, hint
		}
		return exitUsage, "see '" + command + " --help'"
	}
	for _, o := range outcomes {
		if errors.Is(err, o.is) {
			return o.code, cmp.Or(serverHint(err), o.hint)
		}
	}
	return exitFailed, serverHint(err)
}
