//go:build !linux

package sqlite

// fileIdentity tells a file from every other, on other machines too.
func fileIdentity(path string) (string, error) { return nameIdentity(path) }

// birth tells a file from every other that was ever at its place: no system but Linux
// is asked.
func birth(string) (id string, ok bool) { return "", false }
