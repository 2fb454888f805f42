package sqlitefile

import "encoding/binary"

// cell is an entry of a b-tree page: a record, the beginning of which stands on
// the page.
type cell struct {
	id       int64 // of a row of a table
	size     int   // of the whole record
	local    []byte
	overflow uint32 // the page that goes on, 0 for none
	claim    uint64 // tells the cell from others
}

// maxRecord is the largest record that SQLite makes.
const maxRecord = 1<<31 - 1

// cell reads an entry that begins at a place of a page. ok is false for what
// can't be one.
func (f *File) cell(n *node, at int) (c cell, ok bool) {
	begin := at
	if n.kind == indexInterior {
		at += 4
	}
	if at >= f.usable {
		return c, false
	}
	size, used := varint(n.data[at:f.usable])
	if used == 0 || size > min(maxRecord, uint64(f.declared)*uint64(f.usable)) { // #nosec G115 -- usable is positive
		return c, false
	}
	at += used
	if n.kind == tableLeaf {
		id, used := varint(n.data[at:f.usable])
		if used == 0 {
			return c, false
		}
		at += used
		c.id = int64(id) // #nosec G115 -- ids are signed
	}
	c.size = int(size)                         // #nosec G115 -- bounded above
	c.claim = uint64(n.no)<<16 | uint64(begin) // #nosec G115 -- a place on a page
	local := f.local(c.size, n.kind == tableLeaf)
	if at+local > f.usable {
		return c, false
	}
	if local < c.size {
		if at+local+4 > f.usable {
			return c, false
		}
		c.overflow = binary.BigEndian.Uint32(n.data[at+local:])
	}
	if at+local > n.have { // the file ends here
		local, c.overflow = max(n.have-at, 0), 0
	}
	c.local = n.data[at : at+local]
	return c, true
}

// local is how many bytes of a record stand on its b-tree page.
func (f *File) local(size int, table bool) int {
	most := (f.usable-12)*64/255 - 23
	if table {
		most = f.usable - 35
	}
	if size <= most {
		return size
	}
	least := (f.usable-12)*32/255 - 23
	if n := least + (size-least)%(f.usable-4); n <= most {
		return n
	}
	return least
}

// payload is the bytes of a record as far as they can be read.
type payload struct {
	bytes []byte
	zero  int // from here on a page of nothing but zeros was read
}

// payload collects a record from its page and those that it overflows to. A
// page is believed if the one after it can be one: a page number within the
// file, or 0 at the end. One that another cell has taken is not.
func (f *File) payload(c cell) payload {
	p := payload{bytes: c.local, zero: c.size}
	if c.overflow == 0 {
		return p
	}
	p.bytes = append(make([]byte, 0, len(c.local)+f.usable), c.local...)
	for next := c.overflow; next != 0 && len(p.bytes) < c.size; {
		page, ok := f.claimPage(next, c.claim)
		if !ok {
			return p
		}
		next = binary.BigEndian.Uint32(page.data)
		part := page.data[4:min(f.usable, 4+c.size-len(p.bytes))]
		last := len(p.bytes)+len(part) == c.size
		if last && next != 0 || !last && (next < 2 || next > f.declared) || allZero(page.data) && !last {
			return p
		}
		if page.have < 4+len(part) {
			p.bytes = append(p.bytes, part[:max(page.have-4, 0)]...)
			return p
		}
		if last && allZero(page.data) {
			p.zero = len(p.bytes)
		}
		p.bytes = append(p.bytes, part...)
	}
	return p
}

// claimPage reads an overflow page for a cell.
func (f *File) claimPage(n uint32, claim uint64) (rawPage, bool) {
	if n < 2 || n > f.pages || f.claims[n] != 0 && f.claims[n] != claim {
		return rawPage{}, false
	}
	p, err := f.page(n)
	if err != nil || p.have < 4 {
		return p, false
	}
	f.claims[n] = claim
	return p, true
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
