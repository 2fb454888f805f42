package engine

import "context"

// Maintenance is what keeps a database small and sound.
type Maintenance interface {
	// Compact merges index segments and gives free pages back. Interrupted, it
	// has done some of it, and nothing is lost.
	Compact(ctx context.Context, o CompactOptions) (Compacted, error)
	// Check reports damage without changing anything. It fails only when it
	// can't go on: what one check could not do is a finding, and the next ones
	// are done.
	Check(ctx context.Context, o CheckOptions) ([]Finding, error)
	// Repair mends what Check finds in the schema, in the indexes and in the
	// log, each in a transaction of its own. No row of a session or a message
	// changes. A database that lost rows is left as it is.
	Repair(ctx context.Context, o RepairOptions) error
	// Space tells what takes how much room. It looks at every page.
	Space(ctx context.Context) (Space, error)
	// Backup copies the database to the file dst, which must not exist, from one
	// snapshot. The file has that name once the copy was found whole.
	Backup(ctx context.Context, dst string) (Backup, error)
	// Verify reads every table through, as Backup does with its copy.
	Verify(ctx context.Context) (Backup, error)
}

// CheckOptions shape Check.
type CheckOptions struct {
	// Full compares every index entry with its row, and reads every text.
	Full bool
	// Progress is told of each check that begins, and how many there are; nil
	// is fine.
	Progress func(what string, done, total int64)
}

// RepairOptions shape Repair.
type RepairOptions struct {
	// Full also mends what only a full check finds.
	Full bool
	// Done is told of each thing as it is done; nil is fine.
	Done func(Repaired)
}

// Finding is one thing that Check noticed.
type Finding struct {
	Code string // package sessiondb knows how bad it is
	What string // one line
	Fix  string // the command that mends it, where the code does not tell
}

// Repaired is one thing that Repair did.
type Repaired struct {
	Code string // of the finding it answers
	What string // one line
}

// CompactOptions say how far Compact goes.
type CompactOptions struct {
	// Layout is how the indexes are laid out afterwards; empty leaves them.
	Layout Layout
	// IfPays leaves the file alone unless enough of it is free. Deleted is how
	// many messages were deleted just now.
	IfPays  bool
	Deleted int64
	// Progress hears what is being done and how far it is, total 0 for unknown;
	// nil is fine.
	Progress func(what string, done, total int64)
}

// Compacted tells what Compact did.
type Compacted struct {
	Vacuumed bool
	Rebuilt  bool // indexes that did not match the messages, or were laid out anew
	// Older says that the only reason was that an older release of SQLite had
	// filled them: they were sound.
	Older bool
	// Held says that readers kept the file from getting shorter: it does when
	// they are done.
	Held bool
}

// Layout is how the full-text indexes keep what they index.
type Layout string

// The layouts.
const (
	Inline   Layout = "inline"   // each index has a copy of the text
	External Layout = "external" // they read it from the messages
)
