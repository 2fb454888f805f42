//go:build race

package crashtest

// few is how many rounds a run without flags makes: the processes are slow, and
// what is looked for here is no race.
func few(n int) int { return max(1, n/12) }
