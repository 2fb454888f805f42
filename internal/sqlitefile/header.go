package sqlitefile

import (
	"bytes"
	"encoding/binary"
)

const headerSize = 100

var magic = []byte("SQLite format 3\x00")

// Encoding is how a database keeps its text.
type Encoding uint32

// The encodings, as the header numbers them.
const (
	UTF8    Encoding = 1
	UTF16LE Encoding = 2
	UTF16BE Encoding = 3
)

// Header is the first 100 bytes of a database.
type Header struct {
	// OK says that the header can be believed. If it is not, only the size of a
	// page and the encoding are set, as far as they could be found otherwise.
	OK            bool
	PageSize      int
	Reserved      int
	Pages         uint32
	FreeTrunk     uint32 // the first page of the list of free pages
	FreePages     uint32
	Encoding      Encoding
	UserVersion   int32
	ApplicationID int32
}

// parseHeader believes a header whose fixed values are right, also when the
// text at its beginning is not.
func parseHeader(b []byte) (h Header) {
	if len(b) < headerSize {
		return h
	}
	size := pageSizeOf(uint32(binary.BigEndian.Uint16(b[16:])))
	if size == 0 || b[21] != 64 || b[22] != 32 || b[23] != 32 || size-int(b[20]) < 480 {
		return h
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	encoding := Encoding(u32(56))
	if !bytes.Equal(b[:16], magic) && (encoding < UTF8 || encoding > UTF16BE) {
		return h
	}
	h = Header{
		OK: true, PageSize: size, Reserved: int(b[20]), Pages: u32(28), FreeTrunk: u32(32), FreePages: u32(36),
		Encoding: encoding, UserVersion: int32(u32(60)), ApplicationID: int32(u32(68)), // #nosec G115 -- the same bits
	}
	if encoding < UTF8 || encoding > UTF16BE {
		h.Encoding = UTF8
	}
	return h
}

// pageSizeOf is the size that a number stands for, 0 for none.
func pageSizeOf(n uint32) int {
	if n == 1 {
		n = 1 << 16
	}
	if n < 512 || n > 1<<16 || n&(n-1) != 0 {
		return 0
	}
	return int(n)
}
