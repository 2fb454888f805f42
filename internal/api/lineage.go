package api

import (
	"context"

	"github.com/sessiondb-go/sessiondb"
)

var lineageMethods = []*Method{
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
