//go:build !linux

package sqlite

import (
	"errors"
	"os"
)

// canQueue is false where locks belong to the process: SQLite's own lock and
// the retries are then all there is.
const canQueue = false

func lockRange(*os.File, int64, bool) error { return errors.ErrUnsupported }

func unlockRange(*os.File, int64) {}
