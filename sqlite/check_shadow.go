package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// A full-text index keeps its words on leaves, rows of _data, and finds a leaf
// through _idx. SQLite's own check of an index looks at what stands in _idx, and
// not whether something is missing there: then some words are not found.
const (
	leafSegment = 37        // the id of a leaf is its segment, shifted by that,
	leafHeight  = 31        // zeros for a leaf,
	leafPage    = 1<<31 - 1 // and a number
	lastSegment = 1<<16 - 1 // what is above is no segment
	leafHead    = 4         // where the words of a leaf begin
	leafWords   = 2         // where that stands
	onlyLeaf    = 1<<6 - 1  // 0 for a leaf
	firstLeaf   = 1 << 37   // what is below is no leaf
)

// leaves looks whether the full-text indexes find all of their leaves.
func (d *damages) leaves(ctx context.Context, c *conn) error {
	for _, index := range indexes {
		if !slices.Contains(d.tables, index+"_data") || !slices.Contains(d.tables, index+"_idx") || d.tornIndex(index) {
			continue
		}
		n, err := unreachable(ctx, c, index)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && n > 0 { // what can't be read was told of
			d.add("index_damage", index, fmt.Sprintf("%d of its pages can't be found", n)).own = true
		}
	}
	return nil
}

func (d *damages) tornIndex(index string) bool {
	f := d.find("index_damage", index)
	return f != nil && f.torn
}

// unreachable counts the leaves with words that _idx does not name.
func unreachable(ctx context.Context, c *conn, index string) (n int64, err error) {
	named := map[int64]bool{}
	rows, err := c.query(ctx, "SELECT segid, pgno >> 1 FROM main."+index+"_idx")
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var segment, page int64
		if err := rows.Scan(&segment, &page); err != nil {
			return 0, err
		}
		named[segment<<leafSegment|page] = true
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	rows, err = c.query(ctx, "SELECT id, length(block), substr(block, 1, ?) FROM main."+index+"_data WHERE id >= ?", leafHead, int64(firstLeaf))
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, size int64
		var head []byte
		if err := rows.Scan(&id, &size, &head); err != nil {
			return 0, err
		}
		leaf := id>>leafSegment <= lastSegment && id>>leafHeight&onlyLeaf == 0
		if leaf && len(head) == leafHead && size > int64(binary.BigEndian.Uint16(head[leafWords:])) && !named[id] {
			n++
		}
	}
	return n, rows.Err()
}
