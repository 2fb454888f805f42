package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sessiondb-go/sessiondb"
)

// freelist is the list of free pages: trunks, each of which names the next one
// and its leaves.
type freelist struct {
	pages []uint64 // a bit a page
	count uint32   // of those that are named
	wrong string   // what can't be right about it, empty if it may be
}

func (f *freelist) has(page int64) bool {
	return page >= 0 && page/64 < int64(len(f.pages)) && f.pages[page/64]&(1<<(page%64)) != 0
}

// readFreelist follows the list, at a page read for about a thousand that are
// free. A list that can't be right may name pages that are in use, and a writer
// that takes one of those overwrites what is on it. One that is only counted
// wrongly does no harm, and a vacuum mends it.
func readFreelist(ctx context.Context, c *conn) (f freelist, err error) {
	head, err := c.page(ctx, 1)
	if err != nil {
		return f, err
	}
	var last int64 // page of the database
	if err := c.queryRow(ctx, []any{&last}, "PRAGMA main.page_count"); err != nil {
		return f, err
	}
	f.pages = make([]uint64, last/64+1)
	names := func(page uint32) bool {
		switch {
		case page < 2 || int64(page) > last:
			f.wrong = fmt.Sprintf("the list of free pages names page %d of %d", page, last)
		case f.has(int64(page)):
			f.wrong = fmt.Sprintf("the list of free pages names page %d twice", page)
		default:
			f.pages[page/64] |= 1 << (page % 64)
			f.count++
		}
		return f.wrong == ""
	}
	for trunk := binary.BigEndian.Uint32(head[32:]); trunk != 0; {
		if !names(trunk) {
			return f, nil
		}
		page, err := c.page(ctx, trunk)
		if err != nil {
			return f, err
		}
		next, leaves := binary.BigEndian.Uint32(page), binary.BigEndian.Uint32(page[4:])
		if int64(leaves) > int64(len(page)/4-2) {
			f.wrong = fmt.Sprintf("page %d of the list of free pages is none", trunk)
			return f, nil
		}
		for i := range leaves {
			if !names(binary.BigEndian.Uint32(page[8+4*i:])) {
				return f, nil
			}
		}
		trunk = next
	}
	return f, nil
}

// page reads a page as it is stored.
func (c *conn) page(ctx context.Context, n uint32) (data []byte, err error) {
	err = c.queryRow(ctx, []any{&data}, "SELECT data FROM sqlite_dbpage WHERE schema = 'main' AND pgno = ?", int64(n))
	if err == nil && len(data) < 512 {
		err = fmt.Errorf("%w: page %d has %d bytes", sessiondb.ErrCorrupt, n, len(data))
	}
	return data, err
}

// namesRoot says that the first page of a table or an index counts as free.
func (f *freelist) namesRoot(ctx context.Context, c *conn) error {
	rows, err := c.query(ctx, "SELECT name, rootpage FROM main.sqlite_schema WHERE rootpage > 0")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var root int64
		if err := rows.Scan(&name, &root); err != nil {
			return err
		}
		if f.wrong == "" && f.has(root) {
			f.wrong = fmt.Sprintf("the list of free pages names page %d, where %s begins", root, name)
		}
	}
	return rows.Err()
}

// recheckFreelist sees, before the first write, that the list of free pages may
// be right. That it names none of the pages inside a table is the business of
// who reads all of them: Check, and what verifies a backup.
func (s *store) recheckFreelist() error {
	ctx := context.Background()
	f, err := readFreelist(ctx, s.w)
	if err == nil && f.count > 0 {
		err = f.namesRoot(ctx, s.w)
	}
	if err == nil && f.wrong != "" {
		err = fmt.Errorf("%w: %s", sessiondb.ErrCorrupt, f.wrong)
	}
	return err
}

// free holds the list of free pages against the pages that are in use. SQLite
// looks at that only when it checks everything at once, and not always then.
func (d *damages) free(ctx context.Context, c *conn) error {
	f, err := readFreelist(ctx, c)
	if err != nil || f.wrong != "" || f.count == 0 {
		if f.wrong != "" {
			d.add("page_damage", "", f.wrong)
		}
		return err
	}
	rows, err := c.query(ctx, "SELECT name, pageno FROM dbstat WHERE schema = 'main'")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var page int64
		if err := rows.Scan(&name, &page); err != nil {
			return err
		}
		if f.has(page) {
			d.inTree(d.named(name), fmt.Sprintf("page %d of %s is in the list of free pages", page, name))
		}
	}
	return rows.Err()
}
