package sessiondb

import (
	"context"
	"time"
)

// ListFilter says which sessions to list and in which order.
type ListFilter struct {
	Source         string
	ExcludeSources []string
	// Children includes continuations and delegates, which are otherwise shown
	// by their root, or not at all.
	Children bool
	// NoProjection shows a compressed root as itself, not as its tip.
	NoProjection bool
	// ByLastActive orders by last activity along the chain; otherwise by start.
	ByLastActive bool
	// Archived includes sessions that a newer program archived.
	Archived bool
	Limit    int // 0 means 20, negative no limit
	Offset   int
}

// ListedSession is a session as a list shows it.
type ListedSession struct {
	Session
	Preview    string // of the first user message, 60 characters
	LastActive time.Time
	// LineageRoot is the id of the root whose tip this is, empty for a session
	// that stands for itself.
	LineageRoot string
}

// Sessions lists roots and branches, newest first, each compressed root
// standing with the id and state of its tip.
func (db *DB) Sessions(ctx context.Context, f ListFilter) ([]ListedSession, error) { panic("todo") }

// RecentSessions lists plain rows by last activity, newest first.
func (db *DB) RecentSessions(ctx context.Context, source string, limit, offset int) ([]ListedSession, error) {
	panic("todo")
}
