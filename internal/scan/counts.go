package scan

import "github.com/sessiondb-go/sessiondb/internal/engine"

// Counts reads all rows of a result that has two columns, a text and a number, and
// closes it.
func Counts(rows engine.Rows) (map[string]int64, error) {
	defer func() { _ = rows.Close() }()
	counts := map[string]int64{}
	for rows.Next() {
		var key string
		var n int64
		if err := rows.Scan(&key, &n); err != nil {
			return nil, err
		}
		counts[key] = n
	}
	return counts, rows.Err()
}
