package sessiondb

import "context"

// Finding is one thing that is wrong with a store, or may be.
type Finding struct {
	Severity string `json:"severity"` // "error" for lost or unreadable data, "warning" for what can be mended
	What     string `json:"what"`
	Fix      string `json:"fix,omitempty"` // the command that mends it
}

// Check looks for damage: broken pages, rows that point at nothing, a schema or
// a search index that is not as it should be. It reads the whole file and
// changes nothing. A sound store has no findings.
func (db *DB) Check(ctx context.Context) (out []Finding, err error) {
	defer wrap(&err, "check")
	found, err := db.engine.Check(ctx)
	for _, f := range found {
		out = append(out, Finding(f))
	}
	return out, err
}
