package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Check is [sessiondb.DB.Check] for a path, also one that can't be opened. It
// makes no file and changes none: not the database, its log, its journal nor
// its shared memory. What a log or a journal holds that no program has open is
// looked at in a private copy, since SQLite would begin to work on the files
// themselves.
//
// A store that another program has open is read as any reader does. Without a
// write-ahead log that keeps writers waiting for as long as one check takes.
func Check(ctx context.Context, path string, o sessiondb.CheckOptions) (out []sessiondb.Finding, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("check %s: %w", path, err)
		}
	}()
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, fmt.Errorf("%w: no file name", sessiondb.ErrInvalid)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	real := path
	if r, err := filepath.EvalSymlinks(path); err == nil {
		real = r
	}
	checking.Lock()
	defer checking.Unlock()
	for attempt := 1; ; attempt++ {
		p := &pathCheck{path: path, real: real, o: o}
		err := p.run(ctx)
		if err == nil && p.moved() && attempt < 3 {
			continue // a program began to write: read as a reader does
		}
		return p.all(), err
	}
}

// checking lets one check after the other read a header past SQLite.
var checking sync.Mutex

// pathCheck is one look at a path.
type pathCheck struct {
	path, real string
	o          sessiondb.CheckOptions

	noticed []engine.Finding    // what is seen without SQLite
	found   []sessiondb.Finding // what the store itself tells
	still   os.FileInfo         // the file as it was, if it is read without locks
}

func (p *pathCheck) add(code, format string, args ...any) {
	p.noticed = append(p.noticed, engine.Finding{Code: code, What: fmt.Sprintf(format, args...)})
}

// all is everything that was found, the worst first.
func (p *pathCheck) all() []sessiondb.Finding {
	return sessiondb.SortFindings(append(sessiondb.DescribeFindings(p.path, p.noticed), p.found...))
}

// run looks at the file, then into it.
func (p *pathCheck) run(ctx context.Context) error {
	size, ok := p.lookAtFile()
	if !ok {
		return nil
	}
	h, err := readHeader(p.real)
	switch {
	case err != nil:
		p.add("unreadable", "%v", err)
		return nil
	case h == nil: // this process has it open, so it is one
	case !h.valid():
		p.outside()
		p.add("not_database", "it does not begin as a SQLite database does")
		return nil
	default:
		p.lookAtHeader(h, size)
	}
	return p.inside(ctx, h)
}

// lookAtFile says whether there is a file that may be a database.
func (p *pathCheck) lookAtFile() (size int64, ok bool) {
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && fileHolds(p.real+"-wal"):
		p.add("log_alone", "there is no file at %s, but the write-ahead log of one, with data in it", p.path)
	case errors.Is(err, fs.ErrNotExist):
		p.add("missing", "there is no file at %s", p.path)
	case err != nil:
		p.add("unreadable", "%v", err)
	case info.IsDir():
		p.add("not_file", "%s is a folder", p.path)
	case !info.Mode().IsRegular():
		p.add("not_file", "%s is not a regular file", p.path)
	case mayUse(p.real, 4) != nil:
		p.outside()
		p.noticed = append(p.noticed, engine.Finding{Code: "unreadable", Fix: "chmod u+r " + sessiondb.ShellQuote(p.real),
			What: fmt.Sprintf("this user may not read the file: its mode is %04o", info.Mode().Perm())})
	case info.Size() == 0:
		p.outside()
		if fileHolds(p.real + "-wal") {
			p.add("log_alone", "the file has no bytes, but a write-ahead log beside it does: it was emptied, or is not the one of that log")
		} else {
			p.add("empty_file", "the file has no bytes: no session is in it")
		}
	default:
		return info.Size(), true
	}
	return 0, false
}

// outside looks at the files of what can't be opened.
func (p *pathCheck) outside() {
	p.noticed = append(p.noticed, (&store{path: p.path, real: p.real}).lookAround()...)
}

// header is the first 100 bytes of a database.
type header []byte

const headerSize = 100

// readHeader reads the header, unless this process has the file open through
// SQLite: closing it would drop the locks. Then there is none.
func readHeader(real string) (h header, err error) {
	err = unlessOpenHere(real, func() error {
		f, err := os.Open(real) // #nosec G304 -- the store that the caller named
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		h = make(header, headerSize)
		n, err := f.Read(h)
		h = h[:n]
		return err
	})
	if errors.Is(err, errOpenHere) {
		return nil, nil
	}
	return h, err
}

var magic = []byte("SQLite format 3\x00")

func (h header) valid() bool { return len(h) == headerSize && bytes.HasPrefix(h, magic) }

func (h header) pageSize() int64 {
	if n := int64(binary.BigEndian.Uint16(h[16:])); n != 1 {
		return n
	}
	return 65536
}

// wal says that the database is one with a write-ahead log.
func (h header) wal() bool { return h[18] == 2 || h[19] == 2 }

// lookAtHeader holds the header against the file.
func (p *pathCheck) lookAtHeader(h header, size int64) {
	page := h.pageSize()
	if page < 512 || page&(page-1) != 0 || h[18] > 2 || h[18] == 0 || h[21] != 64 || h[22] != 32 || h[23] != 32 || page-int64(h[20]) < 480 {
		p.add("header", "the header tells of pages of %d bytes, of which %d are reserved, and of format %d: that can't be", page, h[20], h[18])
		return
	}
	pages := int64(binary.BigEndian.Uint32(h[28:]))
	counted := bytes.Equal(h[24:28], h[92:96]) // by a program that keeps the count
	switch {
	case fileHolds(p.real+"-wal") || fileHolds(p.real+"-journal"):
		// The rest may be in there; SQLite will see.
	case counted && size < pages*page:
		p.add("truncated", "the file has %d bytes, and %d pages of %d bytes are %d: %d bytes are cut off", size, pages, page, pages*page, pages*page-size)
	case size%page != 0:
		p.add("truncated", "the file has %d bytes, which is no whole number of pages of %d: the last one is cut off", size, page)
	}
}

// inside opens the file so that nothing of it changes, and lets the store check
// itself.
func (p *pathCheck) inside(ctx context.Context, h header) error {
	if p.besideUnusable() {
		p.outside()
		return nil
	}
	if h != nil && p.unclean(h) {
		return p.copied(ctx)
	}
	err := p.open(ctx, p.real, p.access(h))
	if primaryCode(err) == lib.SQLITE_READONLY && fileHolds(p.real+"-journal") {
		p.add("journal_left", "%s-journal holds a transaction that a program did not finish", p.real)
		return p.copied(ctx)
	}
	return err
}

// besideUnusable says that something beside the file keeps it from being opened, which
// is no damage.
func (p *pathCheck) besideUnusable() bool {
	if othersLog(p.real) {
		p.noticed = append(p.noticed, engine.Finding{Code: "other_log", What: whoseLog(p.real),
			Fix: fmt.Sprintf("mv %[1]s-wal %[1]s-wal.other && rm -f %[1]s-shm", sessiondb.ShellQuote(p.real))})
		return true
	}
	for _, suffix := range ofSQLite[1:] {
		if path := p.real + suffix; exists(path) && mayUse(path, 4) != nil {
			p.notReadable(path)
			return true
		}
	}
	return false
}

func (p *pathCheck) notReadable(path string) {
	p.noticed = append(p.noticed, engine.Finding{Code: "unreadable", Fix: "chmod u+r " + sessiondb.ShellQuote(path),
		What: "this user may not read " + path})
}

// unclean says that the log holds data and nobody has the file open.
func (p *pathCheck) unclean(h header) bool {
	if !h.wal() || !fileHolds(p.real+"-wal") || exists(p.real+"-shm") {
		return false
	}
	p.add("wal_left", "%s-wal holds data, and no program has the file open", p.real)
	return true
}

// access is how the file is opened. With the shared memory there, SQLite reads
// as every reader does, or, if nobody has it open, makes an index of the log
// for itself. Without, there is nothing but the file.
func (p *pathCheck) access(h header) access {
	switch {
	case exists(p.real+"-shm") && exists(p.real+"-wal"):
		return access{mode: "ro", readonlyShm: true}
	case h != nil && h.wal():
		p.still, _ = os.Stat(p.real)
		return access{mode: "ro", immutable: true}
	}
	return access{mode: "ro"}
}

// moved says that a file that was read without locks was changed meanwhile.
func (p *pathCheck) moved() bool {
	if p.still == nil {
		return false
	}
	is, err := os.Stat(p.real)
	return err != nil || !os.SameFile(is, p.still) || is.Size() != p.still.Size() || !is.ModTime().Equal(p.still.ModTime()) ||
		exists(p.real+"-wal")
}

// copied looks into a private copy of the files, in a folder that is then
// removed.
func (p *pathCheck) copied(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "sessiondb-check-")
	if err != nil {
		p.add("no_copy", "there is no place for a private copy: %v", err)
		return nil
	}
	defer func() { _ = os.RemoveAll(dir) }()
	to := filepath.Join(dir, "state.db")
	err = unlessOpenHere(p.real, func() error { return copyFiles(ctx, p.real, to) })
	if e := (*fs.PathError)(nil); errors.As(err, &e) && strings.HasPrefix(e.Path, p.real) && errors.Is(err, fs.ErrPermission) {
		p.outside()
		p.notReadable(e.Path)
		return nil
	}
	if err != nil {
		p.outside()
		p.add("no_copy", "what stands beside the file was not looked at, since no private copy could be made: %v", err)
		return ctx.Err()
	}
	return p.open(ctx, to, access{mode: "rw"})
}

// open runs the checks on the store at place, which is the file or a copy.
func (p *pathCheck) open(ctx context.Context, place string, a access) error {
	s := newStore(Options{}, settings{})
	s.path, s.real = p.path, p.real
	s.enterHere()
	defer s.leaveHere()
	var c *conn
	var sh *shape
	err := s.retryBusy(ctx, func() (err error) {
		c, sh, err = look(ctx, place, a)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case primaryCode(err) == lib.SQLITE_READONLY, errors.Is(err, sessiondb.ErrBusy):
		return err
	case errors.Is(err, sessiondb.ErrNotStore):
		p.outside()
		p.add("not_database", "%v", err)
		return nil
	case err != nil:
		p.outside()
		p.add("schema_unreadable", "the schema can't be read: %v", err)
		return nil
	case !sh.ours():
		p.outside()
		p.add("other_program", "it holds the tables of another program")
		return c.close()
	}
	s.shape, s.views, s.refusal = sh, viewsFor(sh), sessiondb.ErrReadOnly
	s.readers = newPool(func(ctx context.Context) (*conn, error) {
		c, err := openConn(ctx, place, a)
		if err == nil {
			err = s.dress(ctx, c)
		}
		return c, err
	})
	if err := c.close(); err != nil {
		return err
	}
	defer func() { _ = s.readers.close() }()
	p.found, err = sessiondb.New(s, sessiondb.Config{}).Check(ctx, p.o)
	return err
}
