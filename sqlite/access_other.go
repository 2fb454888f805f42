//go:build !unix

package sqlite

import "os"

const canAsk = false

// mayUse can't tell here.
func mayUse(string, uint32) error { return nil }

// knowsModes says that permissions mean nothing here.
const knowsModes = false

// sameOwner can't tell here.
func sameOwner(os.FileInfo, os.FileInfo) bool { return true }
