package api

import (
	"context"
	"errors"

	"github.com/sessiondb-go/sessiondb"
)

// A title is unique among all sessions, so naming one concerns the store.
var titleMethods = []*Method{
	method(WritesStore, "set_session_title", "Names a session; an empty title clears the name.", "whether the session exists", setSessionTitle),
	method(WritesStore, "set_auto_title", "Names a session, with the next free number when the title is taken.", "the title that was set",
		func(ctx context.Context, db *sessiondb.DB, p setTitleParams) (any, error) {
			return result(db.SetTitleAuto(ctx, p.SessionID, p.Title))
		}),
	method(ReadsSession, "get_session_title", "Returns the title of a session.", "the title, or null", sessionTitle),
	method(ReadsStore, "get_session_by_title", "Returns the session of exactly that title.", "the columns of the session",
		func(ctx context.Context, db *sessiondb.DB, p titleParams) (any, error) {
			return result(db.SessionByTitle(ctx, p.Title))
		}),
	method(ReadsStore, "resolve_session_by_title", "Finds the most recently started session of a title and its numbered followers.", "the id",
		func(ctx context.Context, db *sessiondb.DB, p titleParams) (any, error) {
			return result(db.ResolveTitle(ctx, p.Title))
		}),
	method(ReadsStore, "get_next_title_in_lineage", "Returns the next free title of a lineage.", "the title",
		func(ctx context.Context, db *sessiondb.DB, p baseTitleParams) (any, error) {
			return result(db.NextTitle(ctx, p.BaseTitle))
		}),
	method(Nothing, "sanitize_title", "Cleans a title as it would be stored.", "the title, or null when nothing is left", sanitizeTitle),
}

type setTitleParams struct {
	ofSession
	Title string `json:"title" need:"true" null:"no title" doc:"at most 100 characters"`
}

// setSessionTitle answers false for an unknown session, as documented.
func setSessionTitle(ctx context.Context, db *sessiondb.DB, p setTitleParams) (any, error) {
	err := db.SetTitle(ctx, p.SessionID, p.Title)
	if errors.Is(err, sessiondb.ErrNotFound) {
		return false, nil
	}
	return result(true, err)
}

func sessionTitle(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
	s, err := db.Session(ctx, p.SessionID)
	return result(s.Title, err)
}

type titleParams struct {
	Title string `json:"title" need:"true"`
}

type baseTitleParams struct {
	BaseTitle string `json:"base_title" also:"title" need:"true" doc:"the title, with or without a number"`
}

type sanitizeParams struct {
	Title string `json:"title"`
}

func sanitizeTitle(_ context.Context, _ *sessiondb.DB, p sanitizeParams) (any, error) {
	clean, err := sessiondb.CleanTitle(p.Title)
	if clean == "" {
		return nil, err
	}
	return clean, err
}
