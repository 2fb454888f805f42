package engine

// Backup is what a backup, or any file that was looked at like one, holds.
type Backup struct {
	Bytes         int64
	SchemaVersion int
	Sessions      int64
	Messages      int64
	// Findings are what is wrong without costing rows: an index that is
	// damaged.
	Findings []Finding
}
