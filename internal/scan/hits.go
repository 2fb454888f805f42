package scan

import "github.com/sessiondb-go/sessiondb/internal/engine"

// Hits reads rows of a message, its session and its rank until each has enough,
// and closes the result.
func Hits(rows engine.Rows, each func(engine.Hit) bool) error {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h engine.Hit
		if err := rows.Scan(&h.MessageID, &h.SessionID, &h.Rank); err != nil {
			return err
		}
		if !each(h) {
			return nil
		}
	}
	return rows.Err()
}
