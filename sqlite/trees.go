package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// trees are the b-trees of a database, and what each is for.
type trees struct {
	at       map[string]object // by root page
	tables   []string          // that have a tree
	virtual  []string          // that have none of their own
	fulltext []string          // the virtual ones of FTS5
	textless []string          // those of them that keep what they index nowhere
}

// noText is how a full-text table is declared that nothing can be made anew
// from.
var noText = text.Regexp(`(?i)content\s*=\s*(''|"")`)

func readTrees(ctx context.Context, c *conn) (*trees, error) {
	rows, err := c.query(ctx, "SELECT type, name, tbl_name, COALESCE(rootpage, 0), COALESCE(sql, '') FROM main.sqlite_schema ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	t := &trees{at: map[string]object{"1": {kind: "table", name: "sqlite_schema"}}}
	for rows.Next() {
		var o object
		var page int64
		if err := rows.Scan(&o.kind, &o.name, &o.table, &page, &o.sql); err != nil {
			return nil, err
		}
		t.add(o, page)
	}
	return t, rows.Err()
}

func (t *trees) add(o object, page int64) {
	if page > 0 {
		t.at[fmt.Sprint(page)] = o
	}
	switch {
	case o.kind != "table":
	case page > 0:
		t.tables = append(t.tables, o.name)
	default:
		t.virtual = append(t.virtual, o.name)
		if strings.Contains(strings.ToLower(o.sql), "using fts5") {
			t.fulltext = append(t.fulltext, o.name)
			if noText().MatchString(o.sql) {
				t.textless = append(t.textless, o.name)
			}
		}
	}
}

// indexOf is the full-text index that a table is a part of, if it can be made
// anew. The parts of ours all can, also where the index itself is gone. What
// another program's index keeps as its text stands nowhere else.
func (t *trees) indexOf(table string) string {
	for _, part := range parts {
		index, ok := strings.CutSuffix(table, part)
		switch {
		case !ok:
		case slices.Contains(indexes, index):
			return index
		case part != "_content" && slices.Contains(t.fulltext, index) && !slices.Contains(t.textless, index):
			return index
		}
	}
	return ""
}

// named is what has a tree under a name.
func (t *trees) named(name string) object {
	for _, o := range t.at {
		if o.name == name {
			return o
		}
	}
	return object{kind: "table", name: name}
}

// indexesOf are the ordinary indexes of a table.
func (t *trees) indexesOf(table string) (names []string) {
	for _, o := range t.at {
		if o.kind == "index" && o.table == table {
			names = append(names, o.name)
		}
	}
	slices.Sort(names)
	return names
}

// tableOf is the table of an ordinary index.
func (t *trees) tableOf(index string) string {
	for _, o := range t.at {
		if o.kind == "index" && o.name == index {
			return o.table
		}
	}
	return ""
}
