//go:build race

package sqlite

// few is how many of n stores a test recovers: SQLite is slow here, and what is
// looked for is no race.
func few(n int) int { return max(1, n/6) }
