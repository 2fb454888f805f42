package sessiondb

import (
	"context"
	"time"
)

// DeleteOptions shapes a deletion. The zero value works.
type DeleteOptions struct {
	// SessionsDir is a folder of transcript files; a session's own files
	// (<id>.json, <id>.jsonl, request_dump_<id>_*.json) go with it.
	SessionsDir string
	// Only deletes this one row, not its whole compression chain.
	Only bool
	// DryRun reports what would go and deletes nothing.
	DryRun bool
}

// DeleteReport tells what a deletion took.
type DeleteReport struct {
	Sessions []string // ids deleted
	Messages int64
	Orphaned []string // children that lost their parent
	Files    []string // removed
	// FileErrors are files that could not be removed.
	FileErrors []string
	// SkippedOpen counts sessions that are old enough but never ended.
	SkippedOpen int64
}

// DeleteSession deletes a conversation: the whole compression chain the
// session belongs to, which a list shows as one. Branches and delegates are
// orphaned, never deleted. Unknown is [ErrNotFound].
func (db *DB) DeleteSession(ctx context.Context, id string, o DeleteOptions) (DeleteReport, error) {
	panic("todo")
}

// PruneFilter says what is old. Source narrows; OlderThan is measured from the
// last activity, 0 means 90 days.
type PruneFilter struct {
	OlderThan time.Duration
	Source    string
}

// Prune deletes ended conversations whose last activity is older than the
// filter says. A compression chain is judged as a whole by its tip.
func (db *DB) Prune(ctx context.Context, f PruneFilter, o DeleteOptions) (DeleteReport, error) {
	panic("todo")
}

// PruneEmptyGhosts deletes sessions of source tui that have no title and no
// messages, ended, and started over 24 hours ago. It returns how many.
func (db *DB) PruneEmptyGhosts(ctx context.Context, o DeleteOptions) (DeleteReport, error) {
	panic("todo")
}

// FinalizeOrphanedCompressions ends, with orphaned_compression, sessions that
// continue a compressed one, have messages but no API calls, and started over
// 7 days ago. It returns how many.
func (db *DB) FinalizeOrphanedCompressions(ctx context.Context) (int64, error) { panic("todo") }

// Vacuum merges the index segments and gives free space back to the disk.
func (db *DB) Vacuum(ctx context.Context) error { panic("todo") }

// MaintenanceOptions shapes MaybePruneAndVacuum. Zero values mean 90 days, 24
// hours.
type MaintenanceOptions struct {
	Retention   time.Duration
	MinInterval time.Duration
	NoVacuum    bool
	SessionsDir string
}

// MaintenanceResult tells what maintenance did. Err is what went wrong, if
// anything: maintenance never fails its caller.
type MaintenanceResult struct {
	Skipped  bool // the interval is not over
	Pruned   int64
	Vacuumed bool
	Err      error
}

// MaybePruneAndVacuum prunes, and vacuums if something was pruned, at most once
// an interval over all processes.
func (db *DB) MaybePruneAndVacuum(ctx context.Context, o MaintenanceOptions) MaintenanceResult {
	panic("todo")
}
