// Package term is the terminal: streams and what they can show, the width of
// text in cells, tables, colour, progress, and the disarming of control
// characters. It knows nothing of sessions and reads no environment.
package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Streams are the three streams of a program and what is at their ends.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY tell which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Width is the number of cells in a line of the terminal at Out or, where
	// that is none, at Err; 80 where neither is one.
	Width int
	// Color allows colour on Out.
	Color bool
}

const defaultWidth = 80

// System returns the streams of this process. Colour is used on a terminal
// only, and not where it is refused.
func System(noColor bool) *Streams {
	s := &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTTY(os.Stdin), OutTTY: isTTY(os.Stdout), ErrTTY: isTTY(os.Stderr),
		Width: defaultWidth,
	}
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			s.Width = w
		}
	}
	s.Color = s.OutTTY && !noColor && enableSequences(os.Stdout)
	if s.ErrTTY {
		s.ErrTTY = enableSequences(os.Stderr)
	}
	return s
}

func isTTY(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
