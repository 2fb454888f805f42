//go:build !linux

package sqlite

// holders can't tell here.
func holders(string) (out []holder, known bool) { return nil, false }

// networkFS can't tell here.
func networkFS(string) string { return "" }
