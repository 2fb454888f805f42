package sessiondb

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// SourceCount is a source, empty where a session has none, and its sessions.
type SourceCount struct {
	Source   string `json:"source"`
	Sessions int64  `json:"sessions"`
}

// Sources are the sources of all sessions, the one with the most first, equal
// ones by name. It reads the index of sources alone, where the store has one.
func (db *DB) Sources(ctx context.Context) (out []SourceCount, err error) {
	defer wrap(&err, "sources")
	var sessions map[string]int64
	err = db.readPast(ctx, func(q engine.Queryer) error {
		sessions = map[string]int64{}
		return eachRow(ctx, q, func(r engine.Rows) error {
			var name string
			var n int64
			err := r.Scan(textColumn{"", &name, new(odd)}, &n)
			sessions[name] += n // NULL and the empty text are one
			return err
		}, sourcesSQL)
	})
	for name, n := range sessions {
		out = append(out, SourceCount{name, n})
	}
	slices.SortFunc(out, func(a, b SourceCount) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Source, b.Source))
	})
	return out, err
}

const sourcesSQL = `SELECT source, COUNT(*) FROM sessions GROUP BY source`
