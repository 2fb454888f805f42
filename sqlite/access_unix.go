//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// canAsk says that mayUse can tell.
const canAsk = true

// mayUse says why this user may not do with a file what the bits say: 4 read,
// 2 write, 1 enter.
func mayUse(path string, bits uint32) error { return unix.Access(path, bits) }
