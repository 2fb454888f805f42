//go:build unix

package sqlite

import "syscall"

// noFollow makes an open fail at a symbolic link.
const noFollow = syscall.O_NOFOLLOW
