package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/retry"
)

// store is one open file. It implements [engine.Engine].
type store struct {
	settings
	path string // as given, absolute
	real string // without symbolic links: SQLite's other files lie beside it

	log        *slog.Logger
	tellDamage func(error) // may be nil
	forgiving  bool        // what can be read of a file that SQLite refuses
	progress   func(what string, done, total int64)

	readers *pool
	writer  *writer
	queue   *queue
	w       *conn     // the write connection; the writer's leader owns it
	ident   *identity // the files that are open

	shape    *shape
	views    []string              // what every reader creates, for files of other schemas
	refusal  error                 // what Write returns, nil when it may write
	damage   atomic.Pointer[error] // what a write found that met damaged pages
	activity atomic.Bool
	chars    atomic.Pointer[knownChars]
	inSchema atomic.Pointer[schemaIndexes]

	// Owned by the writer's leader.
	cookie          int64 // changes with the schema
	others          int64 // changes when another connection writes
	sawFreelist     bool  // it was found that it may be right
	wantActivity    bool
	noLog           bool // the file system can't keep one
	sinceCheckpoint int

	madeLog bool // there was no log before this reader
	closing sync.Once
}

// settings are what tests change.
type settings struct {
	pause func(context.Context, time.Duration) error
	vfs   string
	busy  int   // instead of busyTimeout, in milliseconds
	many  int   // instead of common, how many hits are
	split int64 // instead of splitFrom
	few   int   // instead of fewMessages
}

// openStore opens a file as Open promises.
func openStore(ctx context.Context, path string, o Options, set settings) (_ *store, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", path, err)
		}
	}()
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	s := newStore(o, set)
	s.path, s.real = path, path
	if err := s.open(ctx, o.ReadOnly); err != nil {
		_ = s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// newStore is a store that is not open.
func newStore(o Options, set settings) *store {
	s := &store{settings: set, log: o.Logger, tellDamage: o.Damaged, progress: o.Progress}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.pause == nil {
		s.pause = retry.Pause
	}
	if s.many == 0 {
		s.many = common
	}
	if s.split == 0 {
		s.split = splitFrom
	}
	if s.few == 0 {
		s.few = fewMessages
	}
	s.writer = newWriter(s.serve)
	return s
}

func (s *store) open(ctx context.Context, readOnly bool) error {
	if real, err := filepath.EvalSymlinks(s.path); err == nil {
		s.real = real
	}
	s.enterHere()
	if err := refuseOthersLog(s.real); err != nil {
		return err
	}
	sh, err := s.probe(ctx)
	if readOnly && s.tellDamage != nil && errors.Is(err, sessiondb.ErrCorrupt) {
		s.tellDamage(err)
		s.forgiving = true
		return s.openReadOnly(ctx, sessiondb.ErrReadOnly)
	}
	if err != nil {
		return err
	}
	switch {
	case readOnly && sh == nil && !exists(s.path):
		return fmt.Errorf("%s: %w", s.path, fs.ErrNotExist)
	case readOnly:
		return s.openReadOnly(ctx, sessiondb.ErrReadOnly)
	case sh != nil && sh.version > SchemaVersion:
		return s.openNewer(ctx, sh.version)
	}
	err = s.openWritable(ctx, sh)
	if errors.Is(err, errNewer) {
		return s.openNewer(ctx, s.shape.version)
	}
	return err
}

func (s *store) openNewer(ctx context.Context, version int) error {
	return s.openReadOnly(ctx, &sessiondb.SchemaError{Have: version, Want: SchemaVersion})
}

// openWritable opens, creates or migrates. sh is nil for a new file.
func (s *store) openWritable(ctx context.Context, sh *shape) (err error) {
	isNew := !exists(s.path)
	defer func() {
		if err != nil {
			s.dropWriter()
			s.unmake(isNew)
		}
	}()
	a := access{mode: "rw", vfs: s.vfs, busy: s.busy}
	if sh == nil {
		if err := s.beforeMaking(); err != nil {
			return err
		}
		a.mode = "rwc"
	}
	s.queue = openQueue(s.real + queueSuffix)
	if sh == nil {
		done, err := s.private(&a)
		if err != nil {
			return err
		}
		defer done()
	}
	unprotect(s.real)
	before, _ := os.Stat(s.path)
	err = s.retry(ctx, func() error { return s.openWriter(ctx, a) })
	if err != nil {
		return s.cannotWrite(ctx, err)
	}
	if ro, err := s.w.raw.(interface{ IsReadOnly(string) (bool, error) }).IsReadOnly("main"); err == nil && ro {
		s.dropWriter()
		if s.writable() {
			return fmt.Errorf("%w: %s can't be opened for writing", sessiondb.ErrIO, s.path)
		}
		return s.openReadOnly(ctx, fmt.Errorf("%w: %s may not be written by this user", sessiondb.ErrReadOnly, s.path))
	}
	if s.ident, err = identify(s.path, s.real); err != nil {
		return err
	}
	if before != nil && !os.SameFile(before, s.ident.db) {
		return fmt.Errorf("%w: %s, while it was opened", sessiondb.ErrReplaced, s.path)
	}
	if err := s.prepareFile(ctx, a, sh == nil); err != nil {
		return err
	}
	s.readers = newPool(func(ctx context.Context) (*conn, error) {
		return s.dial(ctx, access{mode: "rw", vfs: s.vfs, busy: s.busy, small: true})
	})
	return nil
}

// beforeMaking sees that a store can be made at the path.
func (s *store) beforeMaking() error {
	if err := refuseLink(s.path); err != nil {
		return err
	}
	if err := s.leftBehind(); err != nil {
		return err
	}
	return makeDir(filepath.Dir(s.path))
}

// prepareFile makes an open file what the store needs. A healthy file is only
// looked at.
func (s *store) prepareFile(ctx context.Context, a access, isNew bool) error {
	tighten(s.path, s.real)
	return s.retry(ctx, func() error {
		err := s.prepareOnce(ctx, a, isNew)
		if noSharedMemory(err) {
			s.dropWriter() // it holds on to a log that others turn off
		}
		return err
	})
}

func (s *store) prepareOnce(ctx context.Context, a access, isNew bool) error {
	if err := s.haveWriter(ctx); err != nil {
		return err
	}
	if err := s.enableWAL(ctx, a, isNew); err != nil {
		return err
	}
	if err := s.migrate(ctx, s.w); err != nil {
		return err
	}
	sh, err := readShape(ctx, s.w)
	if err != nil {
		return err
	}
	s.shape = sh
	s.ident.sawLog()
	s.noteLog()
	s.activity.Store(sh.has(activityIndex))
	s.wantActivity = !sh.has(activityIndex)
	s.cookie, err = s.readCookie()
	return err
}

// cannotWrite opens for reading what can't be opened for writing, a file in a
// directory that is write-protected.
func (s *store) cannotWrite(ctx context.Context, err error) error {
	if !cantOpen(err) || s.writable() {
		return err
	}
	refusal := fmt.Errorf("%w: %s, or its directory, may not be written by this user", sessiondb.ErrReadOnly, s.path)
	if e := s.openReadOnly(ctx, refusal); e != nil {
		return err
	}
	return nil
}

// openReadOnly opens for reading; refusal is what a write gets.
func (s *store) openReadOnly(ctx context.Context, refusal error) error {
	s.refusal = refusal
	s.madeLog = !exists(s.real + "-wal")
	a := access{mode: "ro", forgiving: s.forgiving, vfs: s.vfs, busy: s.busy, small: true}
	var c *conn
	var err error
	if s.ident, err = identify(s.path, s.real); err != nil {
		return err
	}
	err = s.retry(ctx, func() (err error) {
		c, s.shape, err = look(ctx, s.path, a)
		if (cantOpen(err) || noSharedMemory(err) || errors.Is(err, sessiondb.ErrFull)) && !a.immutable && !s.unsettled() {
			// A log can't be kept beside the file, and there is none: nobody
			// writes, so nothing needs to be locked.
			a.immutable = true
			c, s.shape, err = look(ctx, s.path, a)
		}
		return err
	})
	if primaryCode(err) == lib.SQLITE_READONLY && fileHolds(s.real+"-journal") {
		return fmt.Errorf("%w: %s-journal holds a transaction that a program did not finish, and only an open for writing can undo it", err, s.path)
	}
	if err != nil {
		return err
	}
	if !s.shape.ours() {
		_ = c.close()
		return s.notStore("it has other tables")
	}
	s.views = viewsFor(s.shape)
	s.activity.Store(s.shape.has(activityIndex))
	s.readers = newPool(func(ctx context.Context) (*conn, error) { return s.dial(ctx, a) })
	if err := s.dress(ctx, c); err != nil {
		_ = c.close()
		return err
	}
	s.readers.idle = append(s.readers.idle, c)
	return nil
}

// dial opens a connection for reading.
func (s *store) dial(ctx context.Context, a access) (*conn, error) {
	if err := s.ident.check(); err != nil {
		return nil, err
	}
	var c *conn
	err := s.retry(ctx, func() (err error) {
		c, err = openConn(ctx, s.path, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.dress(ctx, c); err != nil {
		_ = c.close()
		return nil, err
	}
	return c, nil
}

// dress makes a connection one for reading.
func (s *store) dress(ctx context.Context, c *conn) error {
	if err := createViews(ctx, c, s.views); err != nil {
		return err
	}
	if err := c.script(ctx, createVocabs); err != nil {
		return err
	}
	return c.script(ctx, "PRAGMA query_only = 1")
}

// Info implements [engine.Engine].
func (s *store) Info() engine.Info {
	created := "rowid"
	if slices.ContainsFunc(s.views, func(v string) bool { return strings.HasPrefix(v, "CREATE TEMP VIEW sessions ") }) {
		created = "" // a view has none
	}
	return engine.Info{
		CreationOrder: created,
		ReadOnly:      s.refusal != nil,
		Current:       s.shape.version == SchemaVersion,
		Place:         s.path,
		SchemaVersion: s.shape.version,
		ActivityIndex: s.activity.Load(),
		Archived:      s.shape.version > SchemaVersion && s.shape.hasColumn("sessions", "archived"),
	}
}

// Close ends the use of the file: calls under way end first, later ones are
// refused. What the log holds is moved to the database where that makes
// nobody wait.
func (s *store) Close() (err error) {
	s.closing.Do(func() {
		s.writer.close()
		if s.readers != nil {
			err = s.readers.close()
		}
		s.tidy()
		if s.w != nil {
			if s.refusal == nil {
				s.checkpoint()
				s.leaveShortLog()
			}
			err = errors.Join(err, s.closeWriter())
		}
		s.queue.close()
		s.leaveHere()
	})
	return err
}

// closeWriter closes the write connection. Where others have another log by now,
// SQLite would move ours over what they wrote: the last connection that closes
// does so, and here that is one which may not write.
func (s *store) closeWriter() error {
	if s.ident != nil && s.ident.othersLog() {
		c, err := openConn(context.Background(), s.path, access{mode: "ro", vfs: s.vfs, busy: 1})
		if err == nil {
			_, _ = readShape(context.Background(), c) // has a lock from then on
			defer func() { _ = c.close() }()
		}
	}
	return s.w.close()
}

func (s *store) dropWriter() {
	if s.w != nil {
		_ = s.w.close()
		s.w = nil
	}
}

func (s *store) notStore(why string) error {
	return fmt.Errorf("%w: %s", sessiondb.ErrNotStore, why)
}
