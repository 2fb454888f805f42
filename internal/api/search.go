package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var searchMethods = []*Method{
	method(ReadsStore, "search_messages",
		`Finds messages: words (all must match), "exact phrase", OR, NOT, prefix*; nothing typed is an error.`,
		"a list of hits: id, session_id, role, snippet, timestamp, tool_name, source, model, session_started, context; "+
			"with explain, an object of hits, total, understood, notices and suggestions", searchMessages),
	method(ReadsStore, "search_conversations", "Finds conversations, one entry for all the hits of one, best first.",
		"conversations (best, hits, root_id, tip_id, title, tags where there are some, preview, view), total, understood, notices, suggestions", searchConversations),
}

type searchParams struct {
	Query          string   `json:"query" need:"true" doc:"what to look for"`
	Sources        []string `json:"source_filter" doc:"only sessions of these sources"`
	ExcludeSources []string `json:"exclude_sources" doc:"no sessions of these sources"`
	Roles          []string `json:"role_filter" doc:"only messages of these roles"`
}

type searchOptions struct {
	Sort            string   `json:"sort" doc:"newest or oldest; by rank otherwise"`
	Sessions        []string `json:"session_ids" doc:"only messages of these sessions"`
	ExcludeSessions []string `json:"exclude_session_ids" doc:"no messages of these sessions"`
	Substring       bool     `json:"substring" default:"false" doc:"find the words inside other words too"`
}

func (p searchParams) with(o searchOptions) sessiondb.SearchQuery {
	return sessiondb.SearchQuery{
		Text: p.Query, Substring: o.Substring, Sources: p.Sources, ExcludeSources: p.ExcludeSources, Roles: p.Roles,
		Sessions: o.Sessions, ExcludeSessions: o.ExcludeSessions, Sort: sessiondb.SearchSort(o.Sort),
	}
}

type messageSearchParams struct {
	searchParams
	pageParams
	searchOptions
	Explain bool `json:"explain" default:"false" doc:"tell how many match in all, and how the query was read"`
	taggedParams
}

func searchMessages(ctx context.Context, db *sessiondb.DB, p messageSearchParams) (any, error) {
	if p.Limit == 0 && !p.Explain {
		return []sessiondb.SearchHit{}, nil
	}
	q := p.with(p.searchOptions)
	q.Tags, q.Limit, q.Offset, q.CountTotal = p.Tags, p.Limit, p.Offset, p.Explain
	found, err := db.Search(ctx, q)
	if p.Limit == 0 || found.Hits == nil {
		found.Hits = []sessiondb.SearchHit{}
	}
	if p.Explain {
		return result(found, err)
	}
	return result(found.Hits, err)
}

type conversationSearchParams struct {
	searchParams
	Limit  int `json:"limit" default:"10" doc:"at most so many; negative for all"`
	Offset int `json:"offset" default:"0" doc:"how many to pass over"`
	searchOptions
	taggedParams
}

func searchConversations(ctx context.Context, db *sessiondb.DB, p conversationSearchParams) (any, error) {
	q := p.with(p.searchOptions)
	q.Tags, q.Limit, q.Offset, q.CountTotal = p.Tags, p.Limit, p.Offset, true
	found, err := db.SearchGrouped(ctx, q)
	if p.Limit == 0 || found.Conversations == nil {
		found.Conversations = []sessiondb.ConversationHit{}
	}
	return result(found, err)
}
