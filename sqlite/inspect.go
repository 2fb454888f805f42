package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// inspectFile reads a database through as [inspect] does.
func inspectFile(ctx context.Context, path string, a access, report func(done, total int64)) (b engine.Backup, err error) {
	c, sh, err := look(ctx, path, a)
	if err != nil {
		return b, err
	}
	defer func() { _ = c.close() }()
	return inspect(ctx, c, sh, report)
}

// inspect reads every table of a database and its indexes, and counts. A table
// that is damaged is an error; what is made from a table, an index, is a
// finding. The deep check of the full-text index against the messages is left
// to Check: it takes ten times as long and can cost no message.
func inspect(ctx context.Context, c *conn, sh *shape, report func(done, total int64)) (b engine.Backup, err error) {
	if !sh.ours() || sh.blank() {
		return b, fmt.Errorf("%w: there are no sessions in it", sessiondb.ErrNotStore)
	}
	b.SchemaVersion = sh.version
	p, err := countPages(ctx, c)
	if err != nil {
		return b, err
	}
	b.Bytes = p.bytes()
	tables, err := readTrees(ctx, c)
	if err != nil {
		return b, err
	}
	for i, t := range tables.names {
		report(int64(i), int64(len(tables.names)))
		found, err := tables.check(ctx, c, t)
		if err != nil {
			return b, err
		}
		b.Findings = append(b.Findings, found...)
	}
	found, err := tables.readFulltext(ctx, c)
	if err != nil {
		return b, err
	}
	b.Findings = append(b.Findings, found...)
	for table, n := range map[string]*int64{"sessions": &b.Sessions, "messages": &b.Messages} {
		if sh.has(table) {
			if err := c.queryRow(ctx, []any{n}, "SELECT COUNT(*) FROM main."+table+" NOT INDEXED"); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// trees are the b-trees of a database.
type trees struct {
	names    []string         // of the tables that have one, those of full-text tables last
	fulltext []string         // tables of the module fts5
	indexes  map[int64]string // by root page
}

func readTrees(ctx context.Context, c *conn) (*trees, error) {
	t := &trees{indexes: map[int64]string{}}
	var tables []string
	rows, err := c.query(ctx, "SELECT type, name, COALESCE(rootpage, 0), COALESCE(sql, '') FROM main.sqlite_schema")
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var kind, name, sql string
		var root int64
		if err := rows.Scan(&kind, &name, &root, &sql); err != nil {
			return nil, err
		}
		switch {
		case kind == "index":
			t.indexes[root] = name
		case kind == "table" && root > 0:
			tables = append(tables, name)
		case kind == "table" && strings.Contains(strings.ToLower(sql), "using fts5"):
			t.fulltext = append(t.fulltext, name)
		}
	}
	for _, shadow := range []bool{false, true} {
		for _, name := range tables {
			if t.derived(name) == shadow {
				t.names = append(t.names, name)
			}
		}
	}
	return t, rows.Err()
}

// derived says that a table belongs to a full-text table.
func (t *trees) derived(table string) bool {
	return slices.ContainsFunc(t.fulltext, func(f string) bool {
		part, ok := strings.CutPrefix(table, f+"_")
		return ok && slices.Contains([]string{"data", "idx", "content", "docsize", "config"}, part)
	})
}

// check reads one table and its indexes.
func (t *trees) check(ctx context.Context, c *conn, table string) (out []engine.Finding, err error) {
	lines, err := quickCheck(ctx, c, table)
	if errors.Is(err, sessiondb.ErrCorrupt) {
		if len(lines) == 0 {
			lines = []string{err.Error()}
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		index, costly := t.judge(line)
		switch {
		case t.derived(table):
			out = append(out, engine.Finding{Code: "index_damage", What: "full-text index, " + table + ": " + line})
		case index != "":
			out = append(out, engine.Finding{Code: "btree_index", What: "index " + index + ": " + line})
		case costly:
			return nil, fmt.Errorf("%w: table %s: %s", sessiondb.ErrCorrupt, table, line)
		default:
			out = append(out, engine.Finding{Code: "odd_values", What: "table " + table + ": " + line})
		}
	}
	return out, nil
}

// readFulltext asks each full-text table something. One that needs what only
// another program has is not ours to judge.
func (t *trees) readFulltext(ctx context.Context, c *conn) (out []engine.Finding, err error) {
	for _, name := range t.fulltext {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		err := c.queryRow(ctx, []any{new(int64)}, "SELECT COUNT(*) FROM (SELECT rowid FROM main."+quoted+" WHERE "+quoted+" MATCH 'the OR and' LIMIT 1)")
		switch {
		case errors.Is(err, sessiondb.ErrCorrupt):
			out = append(out, engine.Finding{Code: "index_damage", What: "full-text index, " + name + ": " + err.Error()})
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// judge says what a line of a check is about: an index, or else damage that may
// cost rows. A value that its column does not allow is neither.
func (t *trees) judge(line string) (index string, costly bool) {
	if rest, ok := strings.CutPrefix(line, "Tree "); ok {
		number, _, _ := strings.Cut(rest, " ")
		root, _ := strconv.ParseInt(number, 10, 64)
		index = t.indexes[root]
		return index, index == ""
	}
	for _, mark := range []string{"missing from index ", "entries in index ", "non-unique entry in index "} {
		if _, name, ok := strings.Cut(line, mark); ok {
			return name, false
		}
	}
	return "", !strings.Contains(line, " value in ")
}

// quickCheck is what SQLite says about one table and its indexes; nothing about
// sound ones.
func quickCheck(ctx context.Context, c *conn, table string) (lines []string, err error) {
	rows, err := c.query(ctx, `PRAGMA main.quick_check("`+strings.ReplaceAll(table, `"`, `""`)+`")`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return lines, err
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line != "ok" && line != "" && !strings.HasPrefix(line, "*** in database") {
				lines = append(lines, line)
			}
		}
	}
	return lines, rows.Err()
}
