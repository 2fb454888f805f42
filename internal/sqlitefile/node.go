package sqlitefile

import "encoding/binary"

// The kinds of b-tree pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// node is a page of a b-tree.
type node struct {
	rawPage
	kind  byte
	cells []int  // where cells begin, as far as they can
	right uint32 // the last child of an interior page
	bad   int    // cells that can't be where they should
	sound bool   // nothing about the page is wrong
}

func (n *node) interior() bool { return n.kind == tableInterior || n.kind == indexInterior }

// node reads a page of a b-tree. ok is false for any other page.
func (f *File) node(no uint32) (n *node, ok bool) {
	p, err := f.page(no)
	if err != nil {
		return nil, false
	}
	return parseNode(p, f.usable)
}

func parseNode(p rawPage, usable int) (n *node, ok bool) {
	at := 0
	if p.no == 1 {
		at = headerSize
	}
	n = &node{rawPage: p, kind: p.data[at]}
	head := 8
	switch n.kind {
	case tableLeaf, indexLeaf:
	case tableInterior, indexInterior:
		head = 12
		n.right = binary.BigEndian.Uint32(p.data[at+8:])
	default:
		return nil, false
	}
	u16 := func(i int) int { return int(binary.BigEndian.Uint16(p.data[i:])) }
	count, content := u16(at+3), u16(at+5)
	if content == 0 {
		content = 1 << 16
	}
	end := at + head + 2*count
	if end > usable || end > p.have {
		return nil, false
	}
	free := u16(at + 1)
	n.sound = content >= end && content <= usable && p.data[at+7] <= 60 && (free == 0 || free >= content && free <= usable-4)
	for i := range count {
		cell := u16(at + head + 2*i)
		if cell < end || cell > usable-4 || cell >= p.have {
			n.bad++
			continue
		}
		n.sound = n.sound && cell >= content
		n.cells = append(n.cells, cell)
	}
	n.sound = n.sound && n.bad == 0
	return n, true
}

// child reads a cell of an interior page of a table: what is below has ids up
// to key.
func (n *node) child(cell int) (page uint32, key int64, ok bool) {
	if cell+5 > len(n.data) {
		return 0, 0, false
	}
	k, size := varint(n.data[cell+4:])
	return binary.BigEndian.Uint32(n.data[cell:]), int64(k), size > 0 // #nosec G115 -- ids are signed
}

// varint reads SQLite's variable-length integer; size 0 means that it is cut.
func varint(b []byte) (v uint64, size int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
