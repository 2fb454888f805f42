package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/sqlitefile"
)

// wreck is a damaged store that is read.
type wreck struct {
	file   *sqlitefile.File
	files  []*os.File
	path   string
	seen   [3]fs.FileInfo // the database, the log and the journal at the beginning
	missed misreads
	alone  bool // the log beside it is that of another file, and is not read
}

var sourceSuffixes = [3]string{"", "-wal", "-journal"}

// openSource opens a database and what lies beside it with ordinary calls, which
// is safe only while this process does not have it open through SQLite.
func openSource(path string) (_ *wreck, err error) {
	s := &wreck{path: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		s.path = real
	}
	info, err := os.Stat(s.path)
	switch {
	case path == "":
		return nil, fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	case errors.Is(err, fs.ErrNotExist) && fileHolds(s.path+"-wal"): // the log may hold every page
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNothingOurs("it is not a regular file")
	case openHere(info):
		return nil, fmt.Errorf("%w: this process has it open", sessiondb.ErrInvalid)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.seen = s.stat()
	var opened [3]sqlitefile.Bytes
	s.alone = othersLog(s.path)
	for i, suffix := range sourceSuffixes {
		if suffix == "-wal" && s.alone {
			continue
		}
		if opened[i], err = s.open(suffix); err != nil {
			return nil, err
		}
	}
	from := sqlitefile.Source{DB: opened[0], WAL: opened[1], Journal: opened[2]}
	s.file, err = sqlitefile.Open(from)
	if super := s.super(); super != "" && !exists(super) { // that transaction was committed
		from.Journal = sqlitefile.Bytes{}
		s.file, err = sqlitefile.Open(from)
	}
	if errors.Is(err, sqlitefile.ErrNoDatabase) {
		err = errNothingOurs(s.noDatabase())
	}
	return s, err
}

func (s *wreck) super() string {
	if s.file == nil {
		return ""
	}
	return s.file.Journal.Super
}

// noDatabase says why there is nothing to read.
func (s *wreck) noDatabase() string {
	switch db := s.seen[0]; {
	case s.missed.err != nil:
		return fmt.Sprintf("the system could not read it: %v", s.missed.err)
	case db == nil:
		return "there is only a write-ahead log, and no page that was committed is in it"
	case db.Size() < headerSize:
		return fmt.Sprintf("it has %d bytes, less than the head of a database", db.Size())
	}
	return "no page of a SQLite database was found in it"
}

// open opens one of the files; one that is not there is empty.
func (s *wreck) open(suffix string) (b sqlitefile.Bytes, err error) {
	f, err := os.Open(s.path + suffix) // #nosec G304 -- the file that the caller named, or beside it
	if errors.Is(err, fs.ErrNotExist) && (suffix != "" || s.seen[0] == nil) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	s.files = append(s.files, f)
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return b, err
	}
	return sqlitefile.Bytes{ReaderAt: patient{f, &s.missed}, Size: info.Size()}, nil
}

func (s *wreck) close() {
	for _, f := range s.files {
		_ = f.Close()
	}
}

func (s *wreck) stat() (now [3]fs.FileInfo) {
	for i, suffix := range sourceSuffixes {
		now[i], _ = os.Stat(s.path + suffix)
	}
	return now
}

// changed says whether somebody wrote to the files since they were opened.
func (s *wreck) changed() bool {
	for i, now := range s.stat() {
		was := s.seen[i]
		if (was == nil) != (now == nil) {
			return true
		}
		if was != nil && (!os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime())) {
			return true
		}
	}
	return false
}

// newFile has a file made under another name, and gives it its own when it is
// complete and durable. On an error nothing is left of it. A file that is there
// is never replaced.
func newFile(path string, build func(string) error) error {
	if path == "" {
		return fmt.Errorf("%w: no name for the new file", sessiondb.ErrInvalid)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := vacant(path); err != nil {
		return err
	}
	st, err := newStage(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer st.remove()
	if err := build(st.copy()); err != nil {
		return err
	}
	if err := syncFile(st.copy()); err != nil {
		return err
	}
	return st.publish(path)
}
