package sessiondb

import (
	"context"
	"io"
)

// ImportOptions shapes an import. The zero value works.
type ImportOptions struct {
	// DryRun reports what would happen and writes nothing.
	DryRun bool
	// Progress is called after each line with the number read.
	Progress func(lines int64)
}

// ImportReport tells what an import did. Line numbers start at 1.
type ImportReport struct {
	Imported int64         `json:"imported"` // sessions
	Messages int64         `json:"messages"`
	Skipped  []ImportIssue `json:"skipped,omitempty"` // sessions that exist already
	Failed   []ImportIssue `json:"failed,omitempty"`  // lines that can't be used
	// Changed are sessions imported without something that did not fit: a title
	// that is taken, a parent that does not exist.
	Changed []ImportIssue `json:"changed,omitempty"`
}

// ImportIssue names a line and what is the matter with it.
type ImportIssue struct {
	Line      int64  `json:"line"`
	SessionID string `json:"session_id,omitempty"`
	Reason    string `json:"reason"`
}

// Import reads JSON lines as ExportAll writes them. Each session is one
// transaction. Sessions whose id exists are skipped and reported; a bad line
// costs that line. Message ids are new, their order is kept.
func (db *DB) Import(ctx context.Context, r io.Reader, o ImportOptions) (ImportReport, error) {
	panic("todo")
}
