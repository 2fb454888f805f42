package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences makes a console obey control sequences, and tells whether it
// does.
func enableSequences(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
