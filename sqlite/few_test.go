//go:build !race

package sqlite

// few is how many of n stores a test recovers.
func few(n int) int { return n }
