package sessiondb

import "context"

// GroupedResult is a page of conversations and how the query was read.
type GroupedResult struct {
	Conversations []ConversationHit `json:"conversations"`
	Total         *int64            `json:"total,omitempty"` // hits, not conversations; nil unless asked for
	SearchReading
}

// ConversationHit is a conversation that matches. A chain of sessions that were
// compressed and continued counts as one.
type ConversationHit struct {
	// Best is the hit that the order of the search puts first.
	Best SearchHit `json:"best"`
	// Hits is how many messages of the conversation match.
	Hits int64 `json:"hits"`
	// RootID and TipID are the ends of the chain; the tip is the session to
	// resume. Both are Best.SessionID where there is no chain.
	RootID string `json:"root_id"`
	TipID  string `json:"tip_id"`
	// Title is that of the tip, or the nearest one before it.
	Title *string `json:"title"`
	// View is the surroundings of Best in its session: five messages before and
	// after, and the first and the last three of users and assistants.
	View AnchoredView `json:"view"`
}

// SearchGrouped finds conversations: one entry for all the hits of one, best
// first. Limit and Offset count conversations.
func (db *DB) SearchGrouped(ctx context.Context, s SearchQuery) (GroupedResult, error) {
	panic("todo")
}
