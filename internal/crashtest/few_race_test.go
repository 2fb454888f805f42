//go:build race

package crashtest

// underRace says that the race detector is on: the processes are slow then, and
// what is looked for here is no race.
const underRace = true

// few is how many rounds a run without flags makes.
func few(n int) int { return max(1, n/12) }
