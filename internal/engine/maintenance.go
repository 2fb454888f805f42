package engine

import "context"

// Maintenance is what keeps a database small and sound.
type Maintenance interface {
	// Compact merges index segments and gives free pages back.
	Compact(ctx context.Context) error
	// Check reports damage without changing anything.
	Check(ctx context.Context) ([]Finding, error)
	// Space tells what takes how much room. It looks at every page.
	Space(ctx context.Context) (Space, error)
	// Backup copies the database to the file dst, which must not exist, from one
	// snapshot. The file has that name once the copy was found whole.
	Backup(ctx context.Context, dst string) (Backup, error)
}

// Finding is one thing Check noticed.
type Finding struct {
	Severity string // "error" or "warning"
	What     string
	Fix      string // the command that mends it, may be empty
}
