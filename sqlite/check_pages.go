package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// pages looks at every page, and lets each full-text index look at itself: that
// is part of what SQLite does here, and writes nothing.
func (k *checker) pages(ctx context.Context, c *conn) error {
	roots, err := rootPages(ctx, c)
	if err != nil {
		return err
	}
	pragma := "quick_check"
	if k.full {
		pragma = "integrity_check"
	}
	d := &damages{}
	lines, err := texts(ctx, c, "PRAGMA main."+pragma+"(1000)")
	d.read(lines, roots)
	if errors.Is(err, sessiondb.ErrCorrupt) { // the whole is too much for it: table by table
		err = d.tables(ctx, c, pragma, k.shape)
	}
	if err != nil {
		return err
	}
	for _, f := range d.list {
		if err := k.addDamage(ctx, c, f); err != nil {
			return err
		}
	}
	return nil
}

// tables looks at one table after the other.
func (d *damages) tables(ctx context.Context, c *conn, pragma string, sh *shape) error {
	roots, err := rootPages(ctx, c)
	if err != nil || sh == nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sh.objects)) {
		if sh.objects[name].kind != "table" {
			continue
		}
		lines, err := texts(ctx, c, `PRAGMA main.`+pragma+`("`+strings.ReplaceAll(name, `"`, `""`)+`")`)
		d.read(lines, roots)
		switch index := indexOfPart(name); {
		case err == nil:
		case !errors.Is(err, sessiondb.ErrCorrupt):
			return err
		case slices.Contains(indexes, name):
			d.add("index_damage", name, err.Error())
		case index != "":
			d.add("index_damage", index, err.Error())
		default:
			d.add("page_damage", name, err.Error())
		}
	}
	return nil
}

// fault is what is wrong with one object.
type fault struct {
	code, name string
	first      string
	n          int
}

// damages puts what SQLite says about the same object together.
type damages struct{ list []*fault }

func (d *damages) add(code, name, line string) {
	i := slices.IndexFunc(d.list, func(f *fault) bool { return f.code == code && f.name == name })
	if i < 0 {
		i = len(d.list)
		d.list = append(d.list, &fault{code: code, name: name, first: line})
	}
	if d.list[i].n == 0 || d.list[i].first != line {
		d.list[i].n++
	}
}

// read takes the lines of an integrity check in.
func (d *damages) read(lines []string, roots map[string]object) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") {
			if part != "ok" && part != "" && !strings.HasPrefix(part, "***") {
				d.sort(part, roots)
			}
		}
	}
}

var (
	treeLine  = pattern(`^Tree (\d+) `)
	ftsLine   = pattern(`(?:FTS5 table (?:main\.)?|^fts5: .* table ")(\w+)`)
	indexLine = pattern(`(?:missing from index|entries in index|entry in index|index) (\S+)$`)
	valueLine = pattern(` value in (\w+\.\w+)$`)
	wasteLine = pattern(`^(?:Page \d+: never used|Freelist: |Page \d+: pointer map|Main freelist: )`)
)

// sort finds out what a line of an integrity check is about. What a full-text
// index or another index lost can be made again.
func (d *damages) sort(line string, roots map[string]object) {
	if m := ftsLine().FindStringSubmatch(line); m != nil {
		d.add("index_damage", m[1], line)
		return
	}
	if m := treeLine().FindStringSubmatch(line); m != nil {
		o := roots[m[1]]
		switch index := indexOfPart(o.name); {
		case index != "":
			d.add("index_damage", index, line)
		case o.kind == "index" && o.sql != "":
			d.add("btree_index", o.name, line)
		default:
			d.add("page_damage", o.name, line)
		}
		return
	}
	if m := valueLine().FindStringSubmatch(line); m != nil {
		d.add("odd_values", m[1], line)
		return
	}
	if m := indexLine().FindStringSubmatch(line); m != nil && !wasteLine().MatchString(line) {
		d.add("btree_index", m[1], line)
		return
	}
	if wasteLine().MatchString(line) {
		d.add("page_waste", "", line)
		return
	}
	d.add("page_damage", "", line)
}

// indexOfPart is the full-text index that a table is a part of.
func indexOfPart(table string) string {
	for _, index := range indexes {
		for _, part := range parts {
			if table == index+part {
				return index
			}
		}
	}
	return ""
}

// addDamage makes a finding of what is wrong with an object.
func (k *checker) addDamage(ctx context.Context, c *conn, f *fault) error {
	more := ""
	if f.n > 1 {
		more = fmt.Sprintf(" (and %d more)", f.n-1)
	}
	switch f.code {
	case "index_damage":
		older, err := k.fromOlderSQLite(ctx, c, f.name)
		if err != nil {
			return err
		}
		if older {
			k.add("index_older_sqlite", "full-text index %s was filled by a release of SQLite before 3.46", f.name)
			return nil
		}
		k.damaged = append(k.damaged, f)
		k.add(f.code, "full-text index %s is damaged: %s%s", f.name, f.first, more)
	case "btree_index":
		k.damaged = append(k.damaged, f)
		k.add(f.code, "index %s: %s%s", f.name, f.first, more)
	case "page_damage":
		what := "damaged pages"
		if f.name != "" {
			what = "damaged pages of table " + f.name
		}
		k.add(f.code, "%s: %s%s", what, f.first, more)
	default:
		k.add(f.code, "%s%s", f.first, more)
	}
	return nil
}

// rootPages tells what tree begins at which page.
func rootPages(ctx context.Context, c *conn) (map[string]object, error) {
	rows, err := c.query(ctx, "SELECT rootpage, type, name, COALESCE(sql, '') FROM main.sqlite_schema WHERE rootpage > 0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[string]object{"1": {kind: "table", name: "sqlite_schema"}}
	for rows.Next() {
		var page int64
		var o object
		if err := rows.Scan(&page, &o.kind, &o.name, &o.sql); err != nil {
			return nil, err
		}
		out[fmt.Sprint(page)] = o
	}
	return out, rows.Err()
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
