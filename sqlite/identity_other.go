//go:build !linux

package sqlite

// fileIdentity tells a file from every other, on other machines too.
func fileIdentity(path string) (string, error) { return nameIdentity(path) }
