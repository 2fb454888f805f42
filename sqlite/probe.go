package sqlite

import (
	"context"
	"errors"
	"os"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
)

// probe looks at the file without a trace, not even a lock, and refuses what
// is no session store. A file that is missing or empty has no shape.
func (s *store) probe(ctx context.Context) (*shape, error) {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, s.notStore("it is a directory")
	case !info.Mode().IsRegular():
		return nil, s.notStore("it is not a regular file")
	case info.Size() == 0:
		return nil, s.leftBehind()
	}
	var sh *shape
	for range looks {
		sh, err = shapeAt(ctx, s.path, access{mode: "ro", immutable: true, vfs: s.vfs, busy: s.busy})
		if err == nil && sh.ours() && !sh.blank() {
			return sh, nil
		}
		// What was seen may be half of the truth: the rest is in the log, or in a
		// journal that waits to be rolled back.
		if s.unsettled() {
			return s.probeLocked(ctx)
		}
	}
	return s.judge(sh, err)
}

// looks is how often a file is looked at before it is refused: while somebody
// writes to it, one look without a lock can see pages of before and after.
const looks = 3

// probeLocked looks at a file that others may be writing to, or did not finish.
func (s *store) probeLocked(ctx context.Context) (*shape, error) {
	sh, err := shapeAt(ctx, s.path, access{mode: "ro", vfs: s.vfs, busy: s.busy})
	if primaryCode(err) == lib.SQLITE_READONLY || isBusy(err) || noSharedMemory(err) {
		return &shape{}, nil // only a writer can tell
	}
	return s.judge(sh, err)
}

// judge refuses what is no store.
func (s *store) judge(sh *shape, err error) (*shape, error) {
	switch {
	case err != nil:
		return nil, err
	case !sh.ours():
		return nil, s.notStore("it holds the tables of another program")
	}
	return sh, nil
}

func shapeAt(ctx context.Context, path string, a access) (*shape, error) {
	c, sh, err := look(ctx, path, a)
	if err != nil {
		return nil, err
	}
	return sh, c.close()
}

// look opens a connection and reads the schema.
func look(ctx context.Context, path string, a access) (*conn, *shape, error) {
	c, err := openConn(ctx, path, a)
	if err != nil {
		return nil, nil, err
	}
	sh, err := readShape(ctx, c)
	if err != nil {
		_ = c.close()
		return nil, nil, err
	}
	return c, sh, nil
}

// unsettled says that there is a log or a journal with something in it.
func (s *store) unsettled() bool { return fileHolds(s.real+"-wal") || fileHolds(s.real+"-journal") }

// leftBehind refuses a store of which only the log or the journal is left: SQLite
// would delete it, also to read, and it may hold the last messages of a file that
// was moved away or emptied. Who makes a store makes its log later, so the log is
// looked at first; a journal lies beside an empty file while that is being made.
func (s *store) leftBehind() error {
	for _, suffix := range []string{"-wal", "-journal"} {
		if !fileHolds(s.real + suffix) {
			continue
		}
		if !exists(s.real) || suffix == "-wal" && !fileHolds(s.real) {
			return s.notStore("it is gone or empty, and " + s.real + suffix +
				" is left: put the two together again, save what that holds with 'sessiondb recover', or move it away")
		}
	}
	return nil
}

// fileHolds says that a file is there and not empty.
func fileHolds(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cantOpen says that SQLite could not open a file, or the ones beside it.
func cantOpen(err error) bool {
	switch primaryCode(err) {
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return true
	}
	return false
}

// readCookie reads the number that changes with the schema.
func (s *store) readCookie() (n int64, err error) {
	err = s.w.queryRow(context.Background(), []any{&n}, "PRAGMA schema_version")
	return n, err
}

// recheckSchema sees, inside a write transaction, that no newer program has
// taken the schema over. It costs next to nothing while nobody else writes.
func (s *store) recheckSchema() error {
	var others int64
	err := s.w.queryRow(context.Background(), []any{&others}, "PRAGMA data_version")
	if err != nil || others == s.others {
		return err
	}
	// A program may raise the version in a transaction of its own, after it
	// changed the schema: the cookie alone does not tell.
	var version int
	if err := s.w.queryRow(context.Background(), []any{&version}, readVersion); err != nil {
		return err
	}
	if version > SchemaVersion {
		return &sessiondb.SchemaError{Have: version, Want: SchemaVersion}
	}
	if err := s.recheckIndex(); err != nil {
		return err
	}
	if !s.sawFreelist {
		if err := s.recheckFreelist(); err != nil {
			return err
		}
		s.sawFreelist = true
	}
	s.others = others
	return nil
}

// recheckIndex sees whether others made or dropped the activity index.
func (s *store) recheckIndex() error {
	n, err := s.readCookie()
	if err != nil || n == s.cookie {
		return err
	}
	sh, err := readShape(context.Background(), s.w)
	if err != nil {
		return err
	}
	s.cookie = n
	s.activity.Store(sh.has(activityIndex))
	return nil
}
