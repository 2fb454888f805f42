package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var tagMethods = []*Method{
	method(WritesStore, "tag_session", "Puts tags on the conversation that a session belongs to, or takes them away.", "a list of the tags that it has then",
		func(ctx context.Context, db *sessiondb.DB, p tagParams) (any, error) {
			return list(db.Tag(ctx, p.SessionID, p.Add, p.Remove))
		}),
	method(ReadsStore, "get_tags", "Returns the tags of the conversation that a session belongs to.", "a list of tags",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return list(db.Tags(ctx, p.SessionID))
		}),
	method(ReadsStore, "list_tags", "Lists the tags in use, the most used first.", "a list of tag, conversations",
		func(ctx context.Context, db *sessiondb.DB, _ none) (any, error) {
			return list(db.AllTags(ctx))
		}),
}

type tagParams struct {
	ofSession
	Add    []string `json:"add" doc:"tags to put on it"`
	Remove []string `json:"remove" doc:"tags to take away"`
}
