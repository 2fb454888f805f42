package mcp

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

const listDoc = `Lists conversations, newest activity first. A conversation that was continued after compression is one entry, with the id to read or resume.`

type listParams struct {
	Source         string   `json:"source,omitempty" jsonschema:"only conversations of this source, such as cli or telegram"`
	ExcludeSources []string `json:"exclude_sources,omitempty" jsonschema:"no conversations of these sources, such as cron"`
	Tag            string   `json:"tag,omitempty" jsonschema:"only conversations with this tag; several, with spaces between, all have to be on them"`
	Limit          int      `json:"limit,omitempty" jsonschema:"at most so many" range:"1 50" default:"20"`
	Cursor         string   `json:"cursor,omitempty" jsonschema:"next_cursor of the answer before"`
}

type listResult struct {
	Sessions []session `json:"sessions"`
	Next     string    `json:"next_cursor,omitempty" jsonschema:"there are more; give it back as cursor"`
}

func (t tools) list(ctx context.Context, p listParams) (listResult, error) {
	offset, err := offset(p.Cursor)
	if err != nil {
		return listResult{}, err
	}
	found, err := t.db.Sessions(ctx, sessiondb.ListFilter{
		Source: p.Source, ExcludeSources: p.ExcludeSources, Tags: sessiondb.SplitTags(p.Tag), ByLastActive: true, Limit: p.Limit + 1, Offset: offset,
	})
	out := listResult{Sessions: []session{}}
	found, out.Next = next(found, p.Limit, offset)
	for _, s := range found {
		out.Sessions = append(out.Sessions, listed(s))
	}
	return out, err
}
