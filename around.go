package sessiondb

import (
	"context"
)

// MessagesAround is a window of a session around one of its messages.
type MessagesAround struct {
	Window         []Message `json:"window"`          // by id; empty when the anchor is not in the session
	MessagesBefore int       `json:"messages_before"` // how many of Window stand before the anchor
	MessagesAfter  int       `json:"messages_after"`
}

// MessagesAround returns up to window messages before the anchor, the anchor,
// and up to window after.
func (db *DB) MessagesAround(ctx context.Context, sessionID string, anchor int64, window int) (MessagesAround, error) {
	panic("todo")
}

// AnchoredView is a window and the two ends of its session.
type AnchoredView struct {
	MessagesAround
	BookendStart []Message `json:"bookend_start"` // the first messages of the session outside the window
	BookendEnd   []Message `json:"bookend_end"`   // the last ones
}

// AnchoredOptions shapes an [AnchoredView]. Window and Bookend count messages.
// KeepRoles nil means all roles.
type AnchoredOptions struct {
	Window, Bookend int
	KeepRoles       []string
}

// AnchoredView returns a window filtered by role (the anchor always stays) and
// the first and last Bookend messages of the session that lie outside it, have
// one of the roles, and have content.
func (db *DB) AnchoredView(ctx context.Context, sessionID string, anchor int64, o AnchoredOptions) (AnchoredView, error) {
	panic("todo")
}
