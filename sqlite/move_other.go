//go:build !linux

package sqlite

// moveNew renames a file to a name that nothing has; otherwise it is
// os.ErrExist.
func moveNew(from, to string) error { return linkNew(from, to) }
