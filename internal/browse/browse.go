// Package browse is the terminal browser: sessions on the left, the transcript
// on the right, a search that follows what is typed. It reads through the
// public API of package sessiondb, writes no SQL, and shows nothing of a store
// that was not made harmless to a terminal first.
package browse

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/sessiondb-go/sessiondb"
)

// Options are what Run needs of its surroundings.
type Options struct {
	// DB is read only. It may be read-only.
	DB *sessiondb.DB
	// Write runs a change on the store opened for writing.
	Write func(context.Context, func(*sessiondb.DB) error) error
	// Export writes a session to a file that does not exist yet.
	Export func(ctx context.Context, id, path string) error
	// Now is the clock.
	Now func() time.Time
	// Color allows the 16 colours of a terminal.
	Color bool
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Environ is the environment that tells what the terminal can do.
	Environ []string
}

// Run shows the store until a session is chosen, and returns its id, or until
// the person leaves: then the id is empty. The end of ctx is an error.
func Run(ctx context.Context, o Options) (id string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(ctx, o)
	m.first = begun(m.searching()) // while the terminal is being set up
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(),
		// No other colours are ever used, and to find out what a terminal has takes
		// longer than to read a page of sessions.
		tea.WithColorProfile(colorprofile.ANSI))
	_, err = p.Run()
	m.stop()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil {
		err = m.failed
	}
	return m.chosen, err
}

// begun runs a command already, and returns one that waits for its end.
func begun(cmd tea.Cmd) tea.Cmd {
	end := make(chan tea.Msg, 1)
	go func() { end <- cmd() }()
	return func() tea.Msg { return <-end }
}
