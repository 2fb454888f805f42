package sqlitefile

import (
	"bufio"
	"encoding/binary"
	"io"
)

// WAL is what a write-ahead log holds.
type WAL struct {
	Valid    bool // its head is right
	PageSize int
	Pages    uint32 // of the database after the last commit
	Frames   int    // that were committed
	// Pending is the number of sound frames after the last commit: of a
	// transaction that never ended.
	Pending int
	// Broken is the number of frames that seem to have been committed but stand
	// at or after one that is damaged. SQLite does not read them, nor do we.
	Broken int
}

const (
	walHead   = 32
	frameHead = 24
)

// walSum is the running checksum of a log.
type walSum struct {
	a, b  uint32
	order binary.ByteOrder
}

func (s *walSum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += s.order.Uint32(p) + s.b
		s.b += s.order.Uint32(p[4:]) + s.a
	}
}

func (s *walSum) is(p []byte) bool {
	return s.a == binary.BigEndian.Uint32(p) && s.b == binary.BigEndian.Uint32(p[4:])
}

// readWAL reads a log as SQLite does: up to the last commit before the first
// frame that is not sound. It returns where the newest content of each page is.
func readWAL(log Bytes) (w WAL, pages map[uint32]int64) {
	pages = map[uint32]int64{}
	if log.ReaderAt == nil {
		return w, pages
	}
	r := bufio.NewReaderSize(io.NewSectionReader(log, 0, log.Size), 1<<16)
	head := make([]byte, walHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return w, pages
	}
	sum, ok := w.readHead(head)
	if !ok {
		return w, pages
	}
	frame := make([]byte, frameHead+w.PageSize)
	pending := map[uint32]int64{}
	behind := 0 // frames at or after a damaged one, since the last commit
	for at := int64(walHead); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(r, frame); err != nil || string(frame[8:16]) != string(head[16:24]) {
			return w, pages
		}
		sum.add(frame[:8])
		sum.add(frame[frameHead:])
		no := binary.BigEndian.Uint32(frame)
		size := binary.BigEndian.Uint32(frame[4:])
		if w.Broken+behind > 0 || no == 0 || !sum.is(frame[16:]) {
			if behind++; size > 0 {
				w.Broken, behind = w.Broken+behind, 0
			}
			continue
		}
		pending[no] = at + frameHead
		if w.Pending++; size > 0 {
			for n, at := range pending {
				pages[n] = at
			}
			clear(pending)
			w.Frames, w.Pending, w.Pages = w.Frames+w.Pending, 0, size
		}
	}
}

func (w *WAL) readHead(head []byte) (sum walSum, ok bool) {
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
		sum.order = binary.LittleEndian
	case 0x377f0683:
		sum.order = binary.BigEndian
	default:
		return sum, false
	}
	w.PageSize = pageSizeOf(binary.BigEndian.Uint32(head[8:]))
	sum.add(head[:24])
	w.Valid = binary.BigEndian.Uint32(head[4:]) == 3007000 && w.PageSize > 0 && sum.is(head[24:])
	return sum, w.Valid
}
