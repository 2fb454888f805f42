package sessiondb

import (
	"context"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// IndexLayout is how the full-text indexes keep what they index.
type IndexLayout string

// The layouts. Both find the same, and programs that know only the first work
// on the second.
const (
	// InlineIndexes have a copy of the text each. A new store has these.
	InlineIndexes IndexLayout = "inline"
	// ExternalIndexes read the text from the messages: the file is smaller.
	ExternalIndexes IndexLayout = "external"
)

// CompactOptions shape Compact. The zero value works.
type CompactOptions struct {
	// Layout lays the full-text indexes out anew, in one transaction; empty
	// leaves them as they are.
	Layout IndexLayout
	// Progress is called with what is being done and how far it is, total 0 when
	// that is not known; nil is fine.
	Progress func(what string, done, total int64)
}

// CompactReport tells what Compact did.
type CompactReport struct {
	Before Space `json:"before"`
	After  Space `json:"after"`
	// Rebuilt says that the full-text indexes were made anew, because they did
	// not match the messages, or for another layout.
	Rebuilt bool `json:"rebuilt"`
	// Older says that they were made anew only because an older release of SQLite
	// had filled them, which splits some text another way: they were sound.
	Older bool `json:"older"`
	// Held says that a reader keeps the file from getting shorter. It does when
	// the reader is done.
	Held bool `json:"held"`
}

// Compact gives space back to the disk: it merges the segments of the full-text
// indexes, rebuilds them if they don't match the messages, rewrites the file
// without its free pages and shortens the log. It needs about twice as much
// free space as the store takes and fails with [ErrFull], before it begins, where
// there is less. Other writers wait at times. Interrupted at any moment, the
// store holds what it held; run again, it goes on.
func (db *DB) Compact(ctx context.Context, o CompactOptions) (r CompactReport, err error) {
	defer wrap(&err, "compact")
	if r.Before, err = db.Space(ctx); err != nil {
		return r, err
	}
	done, err := db.engine.Compact(ctx, engine.CompactOptions{Layout: engine.Layout(o.Layout), Progress: o.Progress})
	r.Rebuilt, r.Older, r.Held = done.Rebuilt, done.Older, done.Held
	if err != nil {
		return r, err
	}
	r.After, err = db.Space(ctx)
	return r, err
}

// Vacuum is Compact without options and without a report.
func (db *DB) Vacuum(ctx context.Context) (err error) {
	defer wrap(&err, "vacuum")
	_, err = db.engine.Compact(ctx, engine.CompactOptions{})
	return err
}
