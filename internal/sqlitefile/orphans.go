package sqlitefile

import (
	"encoding/binary"
)

// Leaf is a leaf of a table that no tree led to.
type Leaf struct {
	Page uint32
	Rows []Row
	Bad  int // entries that could not be read
}

// Orphans calls fn for every page that looks like a leaf of a table with rows
// on it and belongs to no tree that was walked: one that a damaged page led to.
// Free pages are left out if FreePages was called before: what stands there was
// deleted. progress, if not nil, hears of pages.
func (f *File) Orphans(fn func(Leaf) error, progress func(done, total int64)) error {
	for n := uint32(2); n <= f.pages; n++ {
		if progress != nil && n%256 == 0 {
			progress(int64(n), int64(f.pages))
		}
		if f.owner[n] != 0 || f.claims[n] != 0 || n == f.lockPage() {
			continue
		}
		leaf, ok := f.orphan(n)
		if !ok {
			continue
		}
		if err := fn(leaf); err != nil {
			return err
		}
	}
	return nil
}

// orphan reads a leaf about which nothing is known. Most of its entries must be
// readable.
func (f *File) orphan(no uint32) (Leaf, bool) {
	n, ok := f.node(no)
	if !ok || n.kind != tableLeaf || len(n.cells) == 0 {
		return Leaf{}, false
	}
	w := &walk{File: f, table: true}
	good := w.goodCells(n, everything(no))
	leaf := Leaf{Page: no, Bad: len(n.cells) + n.bad - len(good)}
	if len(good) <= leaf.Bad {
		return leaf, false
	}
	for _, at := range good {
		c, _ := f.cell(n, at)
		if r, ok := f.row(c); ok {
			leaf.Rows = append(leaf.Rows, r)
		}
	}
	return leaf, len(leaf.Rows) > 0
}

// FreePages marks the pages that the database does not use and returns how many
// there are. Where the list of them is broken, its pages are looked for.
func (f *File) FreePages() int {
	seen := map[uint32]bool{}
	whole := f.Header.OK
	for n, left := f.Header.FreeTrunk, f.pages; whole && n != 0; left-- {
		next, leaves, ok := f.trunk(n)
		if whole = ok && !seen[n] && left > 0; whole {
			f.markFree(seen, n, leaves)
			n = next
		}
	}
	if whole {
		return len(seen)
	}
	for n := uint32(2); n <= f.pages; n++ {
		if f.owner[n]&ownedByTree == 0 && f.claims[n] == 0 {
			if _, leaves, ok := f.trunk(n); ok && len(leaves) > 0 {
				f.markFree(seen, n, leaves)
			}
		}
	}
	return len(seen)
}

func (f *File) markFree(seen map[uint32]bool, trunk uint32, leaves []uint32) {
	for _, n := range append(leaves, trunk) {
		seen[n] = true
		if n <= f.pages {
			f.owner[n] |= ownedByFreelist
		}
	}
}

// trunk reads a page of the list of free pages: the number of the next one, and
// pages that are free.
func (f *File) trunk(n uint32) (next uint32, leaves []uint32, ok bool) {
	p, err := f.page(n)
	if err != nil || p.have < f.usable {
		return 0, nil, false
	}
	next = binary.BigEndian.Uint32(p.data)
	count := binary.BigEndian.Uint32(p.data[4:])
	if next != 0 && !f.possible(next) || count > uint32(f.usable/4-2) { // #nosec G115 -- at most 2^14
		return 0, nil, false
	}
	seen := map[uint32]bool{n: true}
	for i := range int(count) {
		leaf := binary.BigEndian.Uint32(p.data[8+4*i:])
		if !f.possible(leaf) || seen[leaf] {
			return 0, nil, false
		}
		seen[leaf] = true
		leaves = append(leaves, leaf)
	}
	return next, leaves, true
}
