package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var lineageMethods = []*Method{
	method(WritesStore, "fork_session", "Makes a session with the conversation up to and including a message; the one it comes from stays as it is.",
		"the columns of the new session", forkSession),
	method(ReadsStore, "get_compression_tip", "Follows compression continuations from a session to the live end.", "the id",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.CompressionTip(ctx, p.SessionID))
		}),
	method(ReadsStore, "resolve_resume_session_id", "Returns the session to go on with.", "the id",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.ResumeSessionID(ctx, p.SessionID))
		}),
	method(ReadsStore, "get_ancestors", "Returns the chain of parents of a session, root first, without itself.", "a list of sessions",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return list(db.Ancestors(ctx, p.SessionID))
		}),
	method(ReadsStore, "get_descendants", "Returns everything below a session, depth first.", "a list of sessions with kind and depth",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return list(db.Descendants(ctx, p.SessionID))
		}),
	method(ReadsStore, "get_lineage", "Returns the whole tree that a session belongs to, depth first.", "a list of sessions with kind and depth",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return list(db.Lineage(ctx, p.SessionID))
		}),
}

type forkParams struct {
	ofSession
	MessageID int64  `json:"message_id" default:"0" also:"at" doc:"the last message that goes along; 0 is the last there is"`
	ForkID    string `json:"fork_id" doc:"id of the new session; one is made if absent"`
	EndParent bool   `json:"end_parent" default:"false" doc:"end the session it comes from, as branched"`
}

func forkSession(ctx context.Context, db *sessiondb.DB, p forkParams) (any, error) {
	return result(db.Fork(ctx, p.SessionID, p.MessageID, sessiondb.ForkOptions{ID: p.ForkID, EndParent: p.EndParent}))
}
