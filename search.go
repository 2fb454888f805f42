package sessiondb

import (
	"context"
	"time"
)

// SearchSort is the order of hits.
type SearchSort string

// The orders of hits; ties go by message id.
const (
	ByRank SearchSort = ""
	Newest SearchSort = "newest"
	Oldest SearchSort = "oldest"
)

// SearchQuery is a search over messages. Empty fields do not filter.
type SearchQuery struct {
	Text           string
	Sources        []string
	ExcludeSources []string
	Roles          []string
	Sort           SearchSort
	Limit          int // 0 means 20
	Offset         int
}

// ContextMessage is a neighbour of a hit, cut to 200 characters.
type ContextMessage struct {
	Role    string
	Content string
}

// SearchHit is a message that matches, with its neighbours.
type SearchHit struct {
	MessageID      int64
	SessionID      string
	Role           string
	Snippet        string // matches between >>> and <<<
	Timestamp      time.Time
	ToolName       *string
	Source         string
	Model          *string
	SessionStarted time.Time
	Context        []ContextMessage // the message before, the hit, the one after
}

// Search finds messages. Nothing typed is an error; a query without a term
// finds nothing.
func (db *DB) Search(ctx context.Context, s SearchQuery) ([]SearchHit, error) { panic("todo") }
