//go:build !linux

package sqlite

import "github.com/sessiondb-go/sessiondb"

// users can't tell here.
func users(string) []sessiondb.Process { return nil }
