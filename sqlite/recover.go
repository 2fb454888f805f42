package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// RecoverOptions shape Recover. The zero value works.
type RecoverOptions struct {
	// Logger receives warnings that the report has no place for; nil discards
	// them.
	Logger *slog.Logger
	// Progress is called with what is being done and how far it is; a total of
	// 0 is not known.
	Progress func(what string, done, total int64)
}

// RecoverReport tells what Recover found.
type RecoverReport struct {
	// Tables are sessions, messages and state_meta, then the others by name.
	Tables []RecoveredTable
	// SchemaVersion is that of the new store; FromVersion what the damaged one
	// said, 0 where it said nothing.
	SchemaVersion, FromVersion int
	// SchemaDamaged says that part of the schema could not be read. Tables of
	// other programs may then be missing.
	SchemaDamaged bool
	// PagesLost is the number of pages of tables that could not be read.
	PagesLost int64
	// LogFrames is the number of pages that the write-ahead log held, and
	// LogFramesLost of those that were damaged or stood behind one that was.
	LogFrames, LogFramesLost int64
	// JournalPages is the number of pages that a transaction which did not end
	// had changed, and that were taken back.
	JournalPages int64
	// Placeholders are the ids of sessions that were made for messages whose
	// session is lost.
	Placeholders []string
	// Retitled are the ids of sessions whose title another one has: they got a
	// number behind it.
	Retitled []string
	// Repaired is what else was done so that the rows fit each other, as
	// [sessiondb.DB.Repair] does: parents forgotten that do not exist, counters
	// counted again.
	Repaired []sessiondb.Repaired
	// Changed says that another program wrote to the file meanwhile: what it
	// wrote may be missing or torn.
	Changed bool
	// Notes tell what else is not as it was.
	Notes []string
}

// RecoveredTable tells about one table.
type RecoveredTable struct {
	Name string
	// Rows is how many the new store has. Some of them were found by their
	// shape on pages that nothing led to (Found), miss what stood on pages that
	// could not be read (Cut), or were put together from what indexes hold of
	// them (Rebuilt).
	Rows, Found, Cut, Rebuilt int64
	// Lost is how many rows were there that could not be read, as far as
	// indexes or damaged entries tell. Where PagesLost is not 0 there may be
	// more.
	Lost, PagesLost int64
}

// Complete says that nothing is known to be missing.
func (r RecoverReport) Complete() bool {
	return !r.SchemaDamaged && !r.Changed && r.LogFramesLost == 0 && r.PagesLost == 0 && len(r.Placeholders) == 0 && len(r.Notes) == 0 &&
		!slices.ContainsFunc(r.Tables, func(t RecoveredTable) bool { return t.Cut+t.Rebuilt+t.Lost+t.PagesLost > 0 })
}

// Table returns what is known about a table, the zero value for one that is not
// there.
func (r RecoverReport) Table(name string) RecoveredTable {
	if i := slices.IndexFunc(r.Tables, func(t RecoveredTable) bool { return t.Name == name }); i >= 0 {
		return r.Tables[i]
	}
	return RecoveredTable{}
}

// recovery is one run of Recover.
type recovery struct {
	RecoverReport
	o       RecoverOptions
	src     *sqlitefile.File
	c       *conn // the new database
	objects []sqlitefile.Object
	tables  []*salvage
	version int
}

// Recover makes a new store at dst of every row that can be read from the store
// at src, be it damaged, without its header, or cut off. Ids are kept and the
// indexes made anew. Pages are read one by one and without SQLite, and
// committed ones from the log of src, or from a journal that was to be rolled
// back, count as they do for SQLite. Deleted rows are not brought back.
//
// A write-ahead log whose database is gone is read by itself: src is then the
// name of the file that is missing. What the system fails to read is tried
// again, and noted where it fails for good.
//
// src is not changed, nor what lies beside it. This process must not have it
// open ([sessiondb.ErrInvalid]). A file in which nothing of a session store can
// be found is [sessiondb.ErrNotStore]. dst must not exist ([os.ErrExist]); it
// appears, readable for this user only, when it is complete and checked, and on
// any error nothing of it is left.
//
// A store up to schema version 11 comes out as version 11; a newer one keeps its
// version. The report tells what is missing.
func Recover(ctx context.Context, src, dst string, o RecoverOptions) (report RecoverReport, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("recover %s: %w", src, err)
		}
	}()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	from, err := openSource(src)
	if err != nil {
		return report, err
	}
	defer from.close()
	r := &recovery{o: o, src: from.file}
	err = newFile(dst, func(path string) error { return r.build(ctx, path) })
	r.Changed = from.changed()
	if from.alone {
		r.note("%s, and is left out", whoseLog(from.path))
	}
	if missed := from.missed; missed.err != nil {
		r.note("the system could not read the file at %d places, which counts as lost here: %v; recover it again when the disk reads", len(missed.places), missed.err)
	}
	return r.RecoverReport, err
}

// build makes the new store at path.
func (r *recovery) build(ctx context.Context, path string) (err error) {
	if err := r.readSchema(); err != nil {
		return err
	}
	if r.c, err = openConn(ctx, path, access{mode: "rw"}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.c.close()) }()
	for _, step := range []func(context.Context) error{
		r.prepare, r.createTables, r.load, r.search, r.trace, r.assemble, r.mend, r.createRest, r.migrateCopy, r.verify,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// store is what migrations need to know of the new database.
func (r *recovery) store() *store { return &store{log: r.o.Logger, progress: r.o.Progress} }

// note adds a line to the report.
func (r *recovery) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// errNothingOurs means that no page belongs to a session store.
func errNothingOurs(why string) error { return fmt.Errorf("%w: %s", sessiondb.ErrNotStore, why) }
