package sqlite

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Space implements [engine.Engine]. It looks at the head of every page, in one
// snapshot.
func (s *store) Space(ctx context.Context) (out engine.Space, err error) {
	err = s.Read(ctx, func(q engine.Queryer) (err error) {
		out, err = measure(ctx, q)
		return err
	})
	if info, e := os.Stat(s.real + "-wal"); e == nil {
		out.Log = info.Size()
	}
	return out, err
}

// measure adds up pages by table and index.
func measure(ctx context.Context, q engine.Queryer) (out engine.Space, err error) {
	// The length of a value stands in the head of its row: no text is read.
	err = q.QueryRow(ctx, `SELECT COALESCE(SUM(octet_length(content)), 0),
 COALESCE(SUM(COALESCE(octet_length(tool_calls), 0) + COALESCE(octet_length(tool_name), 0)), 0),
 COALESCE(SUM(COALESCE(octet_length(reasoning), 0) + COALESCE(octet_length(reasoning_content), 0) + COALESCE(octet_length(reasoning_details), 0)
  + COALESCE(octet_length(codex_reasoning_items), 0) + COALESCE(octet_length(codex_message_items), 0)), 0) FROM messages`).
		Scan(&out.Text.Content, &out.Text.Tools, &out.Text.Reasoning)
	if err != nil {
		return out, err
	}
	var pageSize, pages, used int64
	for pragma, n := range map[string]*int64{"PRAGMA main.page_size": &pageSize, "PRAGMA main.page_count": &pages} {
		if err := q.QueryRow(ctx, pragma).Scan(n); err != nil {
			return out, err
		}
	}
	rows, err := q.Query(ctx, `SELECT d.name, COALESCE(o.type, 'table'), d.pgsize
 FROM (SELECT name, pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1) d
 LEFT JOIN main.sqlite_schema o ON o.name = d.name`)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, kind string
		var n int64
		if err := rows.Scan(&name, &kind, &n); err != nil {
			return out, err
		}
		used += n
		out.Parts = addPart(out.Parts, partOf(name, kind), n)
	}
	out.File = pages * pageSize
	if free := out.File - used; free > 0 {
		out.Parts = append(out.Parts, engine.SpacePart{Kind: engine.PartFree, Bytes: free})
	}
	slices.SortStableFunc(out.Parts, func(a, b engine.SpacePart) int { return int(b.Bytes - a.Bytes) })
	return out, rows.Err()
}

// addPart adds pages to a part.
func addPart(parts []engine.SpacePart, p engine.SpacePart, n int64) []engine.SpacePart {
	i := slices.IndexFunc(parts, func(o engine.SpacePart) bool { return o.Kind == p.Kind && o.Name == p.Name })
	if i < 0 {
		p.Bytes = n
		return append(parts, p)
	}
	parts[i].Bytes += n
	return parts
}

// partOf tells what a b-tree belongs to.
func partOf(name, kind string) engine.SpacePart {
	for _, index := range indexes {
		part, ok := strings.CutPrefix(name, index)
		if !ok {
			continue
		}
		switch part {
		case "_content":
			return engine.SpacePart{Kind: engine.PartTextCopy, Name: index}
		case "_data", "_idx":
			return engine.SpacePart{Kind: engine.PartPostings, Name: index}
		case "_docsize", "_config":
			return engine.SpacePart{Kind: engine.PartLengths, Name: index}
		}
	}
	p := engine.SpacePart{Kind: engine.PartOther, Name: name}
	switch {
	case kind == "index":
		p.Kind = engine.PartIndex
	case strings.HasPrefix(name, "sessiondb_"):
		p.Kind = engine.PartOwn
	case strings.HasPrefix(name, "sqlite_"), slices.ContainsFunc(declared, func(o object) bool { return o.name == name }):
		p.Kind = engine.PartTable
	}
	return p
}
