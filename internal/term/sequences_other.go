//go:build !windows

package term

import "os"

// enableSequences makes a terminal obey control sequences, and tells whether it
// does.
func enableSequences(*os.File) bool { return true }
