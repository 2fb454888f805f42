//go:build !race

package crashtest

const underRace = false

// few is how many rounds a run without flags makes.
func few(n int) int { return n }
