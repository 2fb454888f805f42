package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// damages are what SQLite's own checks say, put together by what it is about.
// This is the one place that judges it: damage of an index, ordinary or
// full-text, costs no row, since the index is made from them; damage of anything
// else may.
type damages struct {
	*trees
	list []*fault
	seen map[string]bool // lines
}

// fault is what is wrong with one object.
type fault struct {
	code, name string
	first      string
	n          int  // lines about it
	torn       bool // its pages are damaged, so that nothing may be freed by them
	twice      bool // the table has rows that the index forbids
	own        bool // a full-text index lacks what it keeps for itself, and not only words
}

// maxLines is after how many lines SQLite's check of everything ends.
const maxLines = 1000

func newDamages(ctx context.Context, c *conn) (*damages, error) {
	t, err := readTrees(ctx, c)
	return &damages{trees: t, seen: map[string]bool{}}, err
}

// everything checks the whole database at once, and one table after the other
// where that was too much. SQLite leaves the list of free pages out where the
// first table that it comes to is a virtual one, as may be after a VACUUM.
func (d *damages) everything(ctx context.Context, c *conn, pragma string) error {
	lines, err := texts(ctx, c, fmt.Sprintf("PRAGMA main.%s(%d)", pragma, maxLines))
	d.read(lines)
	if err == nil && len(lines) < maxLines {
		if lost(d.list) != nil {
			return nil
		}
		return d.free(ctx, c)
	}
	if err != nil && !errors.Is(err, sessiondb.ErrCorrupt) && primaryCode(err) != lib.SQLITE_ERROR {
		return err
	}
	for _, name := range slices.Concat(d.tables, d.virtual) {
		if err := d.table(ctx, c, pragma, name); err != nil {
			return err
		}
	}
	return nil
}

// table checks one table and its indexes.
func (d *damages) table(ctx context.Context, c *conn, pragma, name string) error {
	lines, err := texts(ctx, c, "PRAGMA main."+pragma+"("+quoted(name)+")")
	d.read(lines)
	if primaryCode(err) == lib.SQLITE_ERROR && slices.Contains(d.fulltext, name) {
		d.add("index_damage", name, err.Error()).own = true // what it keeps about itself is gone
		return nil
	}
	if errors.Is(err, sessiondb.ErrCorrupt) {
		return d.blame(ctx, c, name, err)
	}
	return err
}

// blame finds out where a check of a table broke off. If every row can be read
// without an index, it was one of those.
func (d *damages) blame(ctx context.Context, c *conn, name string, cause error) error {
	if index := d.indexOf(name); index != "" {
		d.add("index_damage", index, cause.Error()).torn = true
		return nil
	}
	if slices.Contains(d.virtual, name) {
		if slices.Contains(d.fulltext, name) {
			d.add("index_damage", name, cause.Error())
		}
		return nil // its parts are tables too
	}
	err := readAll(ctx, c, "SELECT * FROM main."+quoted(name)+" NOT INDEXED")
	if err != nil {
		if errors.Is(err, sessiondb.ErrCorrupt) {
			d.add("page_damage", name, cause.Error())
			err = nil
		}
		return err
	}
	of := d.indexesOf(name)
	if slices.ContainsFunc(of, func(index string) bool { return d.find("btree_index", index) != nil }) {
		return nil
	}
	for _, index := range of {
		d.add("btree_index", index, cause.Error()).torn = true
	}
	return nil
}

// readAll reads a result to its end.
func readAll(ctx context.Context, c *conn, query string) error {
	rows, err := c.query(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
	}
	return rows.Err()
}

func (d *damages) find(code, name string) *fault {
	for _, f := range d.list {
		if f.code == code && f.name == name {
			return f
		}
	}
	return nil
}

func (d *damages) add(code, name, line string) *fault {
	f := d.find(code, name)
	if f == nil {
		f = &fault{code: code, name: name, first: line}
		d.list = append(d.list, f)
	}
	if f.n == 0 || f.first != line {
		f.n++
	}
	return f
}

// read takes the lines of a check in, each once.
func (d *damages) read(lines []string) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") {
			if part != "ok" && part != "" && !strings.HasPrefix(part, "***") && !d.seen[part] {
				d.seen[part] = true
				d.sort(part)
			}
		}
	}
}

var (
	treeLine  = text.Regexp(`^Tree (\d+) `)
	ftsLine   = text.Regexp(`(?:FTS\d table (?:main\.)?|^fts5: .* table ")(\w+)`)
	indexLine = text.Regexp(` index (.+)$`)
	valueLine = text.Regexp(`(?: value|^CHECK constraint failed) in (.+)$`)
	wasteLine = text.Regexp(`^(?:Page \d+: (?:never used|pointer map)|(?:Main f|F)reelist: size is )`)
)

// sort finds out what a line is about.
func (d *damages) sort(line string) {
	if m := treeLine().FindStringSubmatch(line); m != nil {
		d.inTree(d.at[m[1]], line)
		return
	}
	if wasteLine().MatchString(line) {
		d.add("page_waste", "", line)
		return
	}
	if m := ftsLine().FindStringSubmatch(line); m != nil {
		d.add("index_damage", m[1], line)
		return
	}
	if m := valueLine().FindStringSubmatch(line); m != nil {
		d.add("odd_values", m[1], line)
		return
	}
	if m := indexLine().FindStringSubmatch(line); m != nil {
		twice := strings.HasPrefix(line, "non-unique ")
		if twice && m[1] == titleIndex {
			return // who knows what a title is tells of it
		}
		f := d.add("btree_index", m[1], line)
		f.twice = f.twice || twice
		return
	}
	d.add("page_damage", "", line)
}

// inTree is damage of the pages of a table or an index.
func (d *damages) inTree(o object, line string) {
	switch index := d.indexOf(o.name); {
	case index != "":
		d.add("index_damage", index, line).torn = true
	case o.kind == "index":
		d.add("btree_index", o.name, line).torn = true
	default:
		d.add("page_damage", o.name, line)
	}
}

// settled are the faults that stand by themselves: that an index has another
// number of entries than a table whose rows can't all be read is none of its.
func (d *damages) settled() []*fault {
	return slices.DeleteFunc(slices.Clone(d.list), func(f *fault) bool {
		return f.code == "btree_index" && !f.torn && d.find("page_damage", d.tableOf(f.name)) != nil
	})
}

// lost is the first fault that may cost rows.
func lost(list []*fault) *fault {
	for _, f := range list {
		if f.code == "page_damage" {
			return f
		}
	}
	return nil
}

// finding tells of a fault.
func (d *damages) finding(f *fault) engine.Finding {
	what := f.first
	if f.n > 1 {
		what += fmt.Sprintf(" (and %d more)", f.n-1)
	}
	switch {
	case f.code == "index_damage":
		what = "full-text index " + f.name + " is damaged: " + what
	case f.code == "btree_index":
		what = "index " + f.name + " of table " + d.tableOf(f.name) + ": " + what
	case f.code == "page_damage" && f.name != "":
		what = "damaged pages of table " + f.name + ": " + what
	case f.code == "page_damage":
		what = "damaged pages: " + what
	}
	return engine.Finding{Code: f.code, What: what}
}

// texts reads the first column of a result as text.
func texts(ctx context.Context, c *conn, query string, args ...any) (out []string, err error) {
	rows, err := c.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
