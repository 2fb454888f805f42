//go:build !linux && !darwin

package sqlite

// freeBytes is not known here: a full disk shows when it is full.
func freeBytes(string) (int64, bool) { return 0, false }

func sameDisk(string, string) bool { return false }
