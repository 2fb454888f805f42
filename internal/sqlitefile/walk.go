package sqlitefile

import "math"

// Lost is a page of a tree that could not be read, and everything below it. The
// rows there have ids above After, up to UpTo.
type Lost struct {
	Page        uint32
	After, UpTo int64
}

// Walked tells what a walk along a tree met.
type Walked struct {
	Pages    int    // that were read
	Lost     []Lost // pages that could not be
	BadCells int    // entries of good pages that could not be read
}

// Whole says that nothing was missing.
func (w Walked) Whole() bool { return len(w.Lost) == 0 && w.BadCells == 0 }

// walk is one way along a tree, of a table or of an index.
type walk struct {
	*File
	got   Walked
	table bool
	seen  []bool
	row   func(Row) error // nil only looks at the pages
}

// maxDepth is deeper than a tree with as many pages as there can be.
const maxDepth = 40

// Table calls fn for every row of the table that a tree holds, by id, as far as
// it can be read. An error from fn ends the walk and is returned.
func (f *File) Table(root uint32, fn func(Row) error) (Walked, error) {
	w := &walk{File: f, table: true, seen: make([]bool, f.pages+1), row: fn}
	err := w.visit(Lost{root, math.MinInt64, math.MaxInt64}, 0)
	return w.got, err
}

// Index is Table for the tree of an index, or of a table without row ids, in
// no particular order.
func (f *File) Index(root uint32, fn func(Row) error) (Walked, error) {
	w := &walk{File: f, seen: make([]bool, f.pages+1), row: fn}
	err := w.visit(Lost{Page: root}, 0)
	return w.got, err
}

// Claim marks the pages of a tree of either kind as known, so that Orphans
// leaves them out.
func (f *File) Claim(root uint32) Walked {
	n, ok := f.node(root)
	if !ok {
		return Walked{Lost: []Lost{{Page: root}}}
	}
	w := &walk{File: f, seen: make([]bool, f.pages+1), table: n.kind == tableLeaf || n.kind == tableInterior}
	_ = w.visit(Lost{root, math.MinInt64, math.MaxInt64}, 0)
	return w.got
}

// visit reads the part of a tree that begins at a page.
func (w *walk) visit(at Lost, depth int) error {
	if depth > maxDepth || at.Page > w.pages || w.seen[at.Page] {
		w.got.Lost = append(w.got.Lost, at)
		return nil
	}
	n, ok := w.node(at.Page)
	if !ok || w.table != (n.kind == tableLeaf || n.kind == tableInterior) {
		w.got.Lost = append(w.got.Lost, at)
		return nil
	}
	w.seen[at.Page] = true
	if !n.interior() && (depth == 0 || len(n.cells) > 0) { // only a whole table can be empty
		return w.leaf(n, at)
	}
	if !n.interior() || !w.leads(n, at) {
		w.got.Lost = append(w.got.Lost, at)
		return nil
	}
	w.owner[at.Page] |= ownedByTree
	w.got.Pages++
	for _, c := range n.cells {
		page, key, _ := n.child(c)
		below := Lost{page, at.After, key}
		if err := w.visit(below, depth+1); err != nil {
			return err
		}
		if at.After = key; !w.table {
			if err := w.entry(n, c); err != nil {
				return err
			}
		}
	}
	return w.visit(Lost{n.right, at.After, at.UpTo}, depth+1)
}

// leads says whether an interior page can be followed: all of its children can
// be pages, and its keys rise within what is expected. One that is not wholly
// right would lead astray; the leaves below are found without.
func (w *walk) leads(n *node, at Lost) bool {
	if !n.sound || len(n.cells) == 0 && n.right == 0 || !w.possible(n.right) {
		return false
	}
	before := at.After
	for i, c := range n.cells {
		page, key, ok := n.child(c)
		if !ok || !w.possible(page) {
			return false
		}
		if w.table && (key < before || i > 0 && key == before || key > at.UpTo) {
			return false
		}
		before = key
	}
	return true
}

func (f *File) possible(n uint32) bool { return n >= 2 && n <= f.declared && n != f.lockPage() }

// leaf reads a leaf, if it can be the one that stood there: most of its entries
// can be read and have the ids that are expected.
func (w *walk) leaf(n *node, at Lost) error {
	good := w.goodCells(n, at)
	if bad := len(n.cells) + n.bad - len(good); bad > 0 && len(good) <= bad {
		w.got.Lost = append(w.got.Lost, at)
		return nil
	} else if bad > 0 {
		w.got.BadCells += bad
	}
	w.owner[n.no] |= ownedByTree
	w.got.Pages++
	if w.row == nil {
		return nil
	}
	for _, c := range good {
		if err := w.entry(n, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) goodCells(n *node, at Lost) (good []int) {
	for _, c := range n.cells {
		x, ok := w.cell(n, c)
		if ok && w.table {
			ok = x.id > at.After && x.id <= at.UpTo || x.id == math.MinInt64
		}
		if ok {
			_, _, ok = recordHead(x)
		}
		if ok {
			good = append(good, c)
		}
	}
	return good
}

// entry hands the record of a cell out.
func (w *walk) entry(n *node, at int) error {
	if w.row == nil {
		return nil
	}
	c, ok := w.cell(n, at)
	if !ok {
		w.got.BadCells++
		return nil
	}
	r, ok := w.File.row(c)
	if !ok {
		w.got.BadCells++
		return nil
	}
	return w.row(r)
}
