package engine

import "context"

// Salvager is a Queryer that can go past damage.
type Salvager interface {
	Queryer
	// Salvage is called when a query failed on damaged pages. From then on, until
	// the snapshot ends, the same queries read what can be read. It does more each
	// time, and returns false when there is nothing more it could do. The database
	// is not changed.
	Salvage(ctx context.Context) (Loss, bool, error)
}

// Loss tells what lies on damaged pages.
type Loss struct {
	// Tables have rows that can't be read. There are none when only indexes are
	// damaged: then nothing is missing.
	Tables []string
	// Messages counts those known to be lost, by session; nil where no index
	// tells.
	Messages map[string]int64
	// Sessions are the ids of those whose row is lost, while messages of them are
	// there. A row of source "unknown" stands for each.
	Sessions []string
}
