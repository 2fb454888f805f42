package sqlitefile

import (
	"encoding/binary"
)

// Journal is what a rollback journal holds: the pages as they were before a
// transaction that did not end.
type Journal struct {
	Valid    bool // it is to be rolled back
	PageSize int
	Pages    uint32 // of the database before the transaction
	Records  int    // pages that it gives back
	// Super names the journal that decides over transactions on several
	// databases; this one counts only while that one exists.
	Super string
}

const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// journalReader goes through a journal.
type journalReader struct {
	Bytes
	Journal
	at     int64
	sector int64
	nonce  uint32
	pages  map[uint32]int64
}

// readJournal reads a journal as SQLite does: up to the first record that is
// not sound. It returns where the content of each page is.
func readJournal(b Bytes) (Journal, map[uint32]int64) {
	j := &journalReader{Bytes: b, pages: map[uint32]int64{}}
	if b.ReaderAt == nil {
		return j.Journal, j.pages
	}
	for {
		n, ok := j.head()
		if !ok || !j.records(n) {
			break
		}
		if rest := j.at % j.sector; rest != 0 { // the next head begins a sector
			j.at += j.sector - rest
		}
	}
	j.Super = j.super()
	return j.Journal, j.pages
}

// head reads a head and returns the number of records that follow.
func (j *journalReader) head() (records int64, ok bool) {
	h := make([]byte, 28)
	if n, _ := j.ReadAt(h, j.at); n < len(h) || string(h[:8]) != journalMagic {
		return 0, false
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }
	j.nonce = u32(12)
	if !j.Valid {
		j.PageSize, j.Pages, j.sector = pageSizeOf(u32(24)), u32(16), int64(u32(20))
		if j.PageSize == 0 || j.sector < 32 || j.sector > 1<<16 || j.sector&(j.sector-1) != 0 {
			return 0, false
		}
		j.Valid = true
	}
	j.at += j.sector
	if records = int64(u32(8)); u32(8) == 0xffffffff { // written without syncs
		records = (j.Size - j.at) / int64(j.PageSize+8)
	}
	return records, true
}

// records reads n records and says whether all were sound. The first content
// of a page is the oldest.
func (j *journalReader) records(n int64) bool {
	record := make([]byte, j.PageSize+8)
	for range n {
		if got, _ := j.ReadAt(record, j.at); got < len(record) {
			return false
		}
		no := binary.BigEndian.Uint32(record)
		page := record[4 : 4+j.PageSize]
		if no == 0 || binary.BigEndian.Uint32(record[4+j.PageSize:]) != journalSum(j.nonce, page) {
			return false
		}
		if _, ok := j.pages[no]; !ok && no <= j.Pages {
			j.pages[no] = j.at + 4
			j.Records++
		}
		j.at += int64(len(record))
	}
	return true
}

// journalSum is the checksum of a page: every 200th byte.
func journalSum(nonce uint32, page []byte) uint32 {
	for i := len(page) - 200; i > 0; i -= 200 {
		nonce += uint32(page[i])
	}
	return nonce
}

// super reads the name at the end of a journal.
func (j *journalReader) super() string {
	tail := make([]byte, 16)
	if n, _ := j.ReadAt(tail, max(j.Size-16, 0)); n < 16 || string(tail[8:]) != journalMagic {
		return ""
	}
	length := int64(binary.BigEndian.Uint32(tail))
	if length == 0 || length > 4096 || length > j.Size-16 {
		return ""
	}
	name := make([]byte, length)
	if n, _ := j.ReadAt(name, j.Size-16-length); int64(n) < length {
		return ""
	}
	var sum uint32
	for _, c := range name {
		sum += uint32(int8(c)) // #nosec G115 -- as SQLite adds them: signed characters
	}
	if sum != binary.BigEndian.Uint32(tail[4:]) {
		return ""
	}
	return string(name)
}
