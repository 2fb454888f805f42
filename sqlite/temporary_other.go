//go:build !linux

package sqlite

// temporaryBytes is not known here.
func temporaryBytes() int64 { return 0 }
