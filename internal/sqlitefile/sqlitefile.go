// Package sqlitefile reads the SQLite file format, and goes on reading where a
// file is damaged: it follows b-trees as far as they lead and can look at every
// page there is. It never writes, holds no SQLite and knows nothing of what the
// tables mean. No bytes, however odd, make it panic or run for ever.
//
// The format is described at https://sqlite.org/fileformat2.html.
package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Bytes is a file that can be read at any place.
type Bytes struct {
	io.ReaderAt
	Size int64
}

// Source is a database with what lies beside it. What is not there is zero.
type Source struct {
	DB, WAL, Journal Bytes
}

// File is a database that is being read. One goroutine uses it at a time.
type File struct {
	Header  Header
	WAL     WAL     // what the write-ahead log holds
	Journal Journal // what the rollback journal holds

	src      Source
	pageSize int
	usable   int    // bytes of a page that b-trees use
	pages    uint32 // pages that are part of the database
	declared uint32 // pages that it should have, at least
	over     map[uint32]Place
	owner    []byte   // by page: how it is known
	claims   []uint64 // by page: the cell whose overflow it holds
}

// Place is where the valid content of a page stands instead of in the database.
type Place struct {
	InWAL bool // or in the journal
	At    int64
}

// How a page is known.
const (
	ownedByTree = 1 << iota
	ownedByFreelist
)

// ErrNoDatabase means that no page of a SQLite database was found.
var ErrNoDatabase = errors.New("no page of a SQLite database")

// errPage means that a page is not there or can't be read.
var errPage = errors.New("page can't be read")

// Open prepares to read. The committed part of the log and the pages of a
// journal that has to be rolled back count instead of what the database holds.
// Where the header is damaged, the size of a page is found from the pages.
func Open(src Source) (*File, error) {
	f := &File{src: src, over: map[uint32]Place{}}
	head := make([]byte, headerSize)
	n := f.read(src.DB, head, 0)
	f.Header = parseHeader(head[:n])
	journal, before := readJournal(src.Journal)
	wal, log := readWAL(src.WAL)
	f.Journal, f.WAL = journal, wal
	switch {
	case f.Header.OK:
		f.pageSize = f.Header.PageSize
	case wal.Valid:
		f.pageSize = wal.PageSize
	case journal.Valid:
		f.pageSize = journal.PageSize
	default:
		f.pageSize = f.guessPageSize()
	}
	if f.pageSize == 0 {
		return nil, ErrNoDatabase
	}
	f.usable = f.pageSize
	f.setPages((src.DB.Size + int64(f.pageSize) - 1) / int64(f.pageSize))
	if journal.Valid && journal.PageSize == f.pageSize && src.DB.Size > 0 {
		f.overlay(before, false, journal.Pages)
	}
	if wal.Valid && wal.PageSize == f.pageSize && wal.Frames > 0 {
		f.overlay(log, true, wal.Pages)
	}
	f.adoptHeader()
	f.owner = make([]byte, f.pages+1)
	f.claims = make([]uint64, f.pages+1)
	return f, nil
}

// maxPages is the largest database that SQLite makes.
const maxPages = math.MaxUint32 - 1

func (f *File) setPages(n int64) { f.pages = uint32(min(n, maxPages)) } // #nosec G115 -- bounded

func (f *File) overlay(pages map[uint32]int64, inWAL bool, size uint32) {
	for n, at := range pages {
		if n <= size {
			f.over[n] = Place{inWAL, at}
		}
	}
	f.setPages(min(int64(size), f.most()))
}

// most is a number of pages above which none can be, so that a number read from
// a damaged file costs no memory.
func (f *File) most() int64 {
	size := f.src.DB.Size + f.src.WAL.Size + f.src.Journal.Size
	most := size/int64(f.pageSize) + 1
	for n := range f.over {
		most = max(most, int64(n))
	}
	return min(most, maxPages)
}

// adoptHeader takes the facts from the first page as it is valid now.
func (f *File) adoptHeader() {
	if p, err := f.page(1); err == nil {
		if h := parseHeader(p.data[:min(p.have, headerSize)]); h.OK && h.PageSize == f.pageSize {
			f.Header = h
		} else if f.inOverlay(1) {
			f.Header.OK = false
		}
	}
	f.declared = f.pages
	if f.Header.OK {
		f.usable = f.pageSize - f.Header.Reserved
		f.declared = max(f.pages, f.Header.Pages)
		return
	}
	f.Header.PageSize = f.pageSize
	f.Header.Encoding = f.guessEncoding()
}

func (f *File) inOverlay(n uint32) bool { _, ok := f.over[n]; return ok }

// PageSize is the size of a page in bytes.
func (f *File) PageSize() int { return f.pageSize }

// Pages are how many pages are there, and how many there should be at least.
func (f *File) Pages() (have, want uint32) { return f.pages, f.declared }

// rawPage is the bytes of a page. The last page of a file that was cut may be
// there in part.
type rawPage struct {
	no   uint32
	data []byte
	have int
}

func (f *File) page(n uint32) (rawPage, error) {
	if n == 0 || n > f.pages {
		return rawPage{}, fmt.Errorf("page %d of %d: %w", n, f.pages, errPage)
	}
	p := rawPage{no: n, data: make([]byte, f.pageSize)}
	place, ok := f.over[n]
	switch {
	case !ok:
		p.have = f.read(f.src.DB, p.data, int64(n-1)*int64(f.pageSize))
	case place.InWAL:
		p.have = f.read(f.src.WAL, p.data, place.At)
	default:
		p.have = f.read(f.src.Journal, p.data, place.At)
	}
	if p.have == 0 {
		return p, fmt.Errorf("page %d: %w", n, errPage)
	}
	return p, nil
}

// read fills buf as far as a file goes and can be read.
func (f *File) read(from Bytes, buf []byte, at int64) int {
	if from.ReaderAt == nil || at < 0 || at >= from.Size {
		return 0
	}
	n, _ := from.ReadAt(buf[:min(int64(len(buf)), from.Size-at)], at)
	return max(n, 0)
}

// lockPage is the page that SQLite leaves out for its locks.
func (f *File) lockPage() uint32 { return uint32(1<<30/f.pageSize) + 1 } // #nosec G115 -- at most 2^21
