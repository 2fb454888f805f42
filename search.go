package sessiondb

import (
	"context"
	"time"
)

// SearchSort is the order of hits.
type SearchSort string

// The orders of hits. Hits of equal time go by rank, and what is equal in both
// by message id, so that pages neither repeat nor skip.
const (
	ByRank SearchSort = ""
	Newest SearchSort = "newest"
	Oldest SearchSort = "oldest"
)

// SearchQuery is a search over messages. Empty fields do not filter.
type SearchQuery struct {
	// Text is what was typed, in the language of docs/search.md. Any string
	// can be searched for; none is an error.
	Text string
	// Substring finds the words of Text anywhere, inside other words too.
	Substring bool

	Sources         []string
	ExcludeSources  []string
	Roles           []string
	Sessions        []string
	ExcludeSessions []string // in a grouped search, the whole conversations of these

	// Sort is read without regard to case and surrounding space; what is no
	// known order is by rank.
	Sort       SearchSort
	Limit      int // 0 means 20, negative no limit
	Offset     int
	CountTotal bool // count all hits, not only those of the page
}

// SearchResult is a page of hits and how the query was read.
type SearchResult struct {
	Hits  []SearchHit `json:"hits"`
	Total *int64      `json:"total,omitempty"` // nil unless asked for
	SearchReading
}

// SearchReading tells how a query was read.
type SearchReading struct {
	// Understood is the query as it was read, in one line; empty when there was
	// nothing to search for.
	Understood string `json:"understood"`
	// Notices are sentences about what was left out of the query, or could not
	// be searched as it should be.
	Notices []string `json:"notices,omitempty"`
	// Suggestions tell what would have matched. Only a search that found
	// nothing has any.
	Suggestions []SearchSuggestion `json:"suggestions,omitempty"`
}

// SearchSuggestion is another query that finds something, or a session whose
// title is near to what was typed.
type SearchSuggestion struct {
	Query     string `json:"query,omitempty"`
	Hits      int64  `json:"hits,omitempty"` // how many messages Query finds
	Title     string `json:"title,omitempty"`
	SessionID string `json:"session_id,omitempty"`
}

// ContextMessage is a neighbour of a hit, cut to 200 characters.
type ContextMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// SearchHit is a message that matches, with its neighbours.
type SearchHit struct {
	MessageID      int64
	SessionID      string
	Role           string
	Snippet        string // one match or more between >>> and <<<
	Timestamp      time.Time
	ToolName       *string
	Source         string
	Model          *string
	SessionStarted time.Time
	Context        []ContextMessage // the message before, the hit, the one after
}

// Search finds messages. Nothing typed is an error; a query without a term
// finds nothing and says so in its notices.
func (db *DB) Search(ctx context.Context, s SearchQuery) (SearchResult, error) { panic("todo") }
