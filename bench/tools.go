//go:build tools

package main

// The C baseline is compiled against the SQLite sources in this module.
import _ "github.com/mattn/go-sqlite3"
