package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var listMethods = []*Method{
	method(ReadsStore, "list_sessions_rich",
		"Lists conversations, newest first, each compressed one as its live end.",
		"a list of sessions with preview, last_active, _lineage_root_id where one stands for a root, and tags where there are some", listSessions),
	method(ReadsStore, "search_sessions", "Lists single sessions by last activity, newest first.",
		"a list of sessions with preview and last_active", recentSessions),
}

// pageParams are a part of a list. Limit 0 is an empty page, a negative one the
// whole list.
type pageParams struct {
	Limit  int `json:"limit" default:"20" doc:"at most so many; negative for all"`
	Offset int `json:"offset" default:"0" doc:"how many to pass over"`
}

type listParams struct {
	Source         string   `json:"source" doc:"only sessions of this source"`
	ExcludeSources []string `json:"exclude_sources" doc:"no sessions of these sources"`
	pageParams
	Children     bool   `json:"include_children" default:"false" doc:"include continuations and delegates, each for itself"`
	Project      bool   `json:"project_compression_tips" default:"true" doc:"show a compressed root as its live end"`
	ByLastActive bool   `json:"order_by_last_active" default:"false" doc:"order by last activity instead of by start"`
	Archived     bool   `json:"include_archived" default:"false" doc:"include sessions that a newer program archived"`
	Tag          string `json:"tag" doc:"only conversations with this tag"`
	taggedParams
}

// taggedParams stand last in what has them: they came after the others.
type taggedParams struct {
	Tags []string `json:"tags" doc:"only conversations that have all of these tags"`
}

func (p listParams) tags() []string {
	if p.Tag == "" {
		return p.Tags
	}
	return append([]string{p.Tag}, p.Tags...)
}

func listSessions(ctx context.Context, db *sessiondb.DB, p listParams) (any, error) {
	if p.Limit == 0 {
		return []sessiondb.ListedSession{}, nil
	}
	return list(db.Sessions(ctx, sessiondb.ListFilter{
		Source: p.Source, ExcludeSources: p.ExcludeSources, Children: p.Children, NoProjection: !p.Project,
		ByLastActive: p.ByLastActive, Archived: p.Archived, Tags: p.tags(), Limit: p.Limit, Offset: p.Offset,
	}))
}

type recentParams struct {
	Source string `json:"source" doc:"only sessions of this source"`
	pageParams
}

func recentSessions(ctx context.Context, db *sessiondb.DB, p recentParams) (any, error) {
	if p.Limit == 0 {
		return []sessiondb.ListedSession{}, nil
	}
	return list(db.RecentSessions(ctx, p.Source, p.Limit, p.Offset))
}
