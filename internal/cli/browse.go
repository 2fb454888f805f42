package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/browse"
	"github.com/sessiondb-go/sessiondb/internal/export"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) browseCommand() *cobra.Command {
	var command string
	cmd := &cobra.Command{
		Use:   "browse",
		Short: "Look through the sessions on the whole terminal",
		Long: `Look through the sessions on the whole terminal: the latest first, or what is
found by what you type; the transcript beside it. Enter prints the id of the
session, so that hermes --resume "$(sessiondb browse)" works; the ? key shows all keys.

With --exec, enter runs a command, in which {id} is the session. No shell runs it:
it is split into words at spaces, outside of quotes.`,
		Example: `  sessiondb browse --exec 'hermes --resume {id}'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			words, err := commandWords(command)
			if err != nil {
				return err
			}
			id, damage := a.browse(cmd.Context())
			switch {
			case id == "":
				return damage
			case len(words) > 0:
				err = a.execute(cmd.Context(), words, id)
			default:
				_, err = fmt.Fprintln(a.Out, term.Line(id))
			}
			return cmp.Or(err, damage)
		},
	}
	cmd.Flags().StringVar(&command, "exec", "", "run `COMMAND` with the chosen session in the place of {id}")
	return cmd
}

// browse shows the store until a session is chosen. It may be chosen in a store
// that is damaged in other places: then there is an error as well.
func (a *app) browse(ctx context.Context) (id string, err error) {
	path, err := a.existing()
	if err != nil {
		return "", err
	}
	in, out, closeTerminal, err := a.screen()
	if err != nil {
		return "", err
	}
	held := &heldBack{}
	quiet := a.saying(held)
	defer func() {
		closeTerminal()
		_, _ = a.Err.Write(held.b.Bytes())
	}()
	err = quiet.with(ctx, path, true, func(db *sessiondb.DB) error {
		id, err = browse.Run(ctx, browse.Options{
			DB: db, Now: a.now, In: in, Out: out, Environ: os.Environ(),
			Color: a.env("NO_COLOR") == "",
			Write: func(ctx context.Context, fn func(*sessiondb.DB) error) error {
				return quiet.with(ctx, path, false, fn)
			},
			Export: func(ctx context.Context, id, file string) error { return a.exportNew(ctx, db, id, file) },
		})
		return err
	})
	return id, err
}

// screen is the terminal that is there beside the standard output, which may
// be a pipe that waits for the id.
func (a *app) screen() (in io.Reader, out io.Writer, done func(), err error) {
	in, out, done = a.In, a.Err, func() {}
	if a.env("TERM") == "dumb" {
		return nil, nil, nil, failf(errNoScreen, "this terminal can't show a whole screen (TERM=dumb)")
	}
	if a.InTTY && a.ErrTTY {
		return in, out, done, nil
	}
	ttyIn, ttyOut, err := tea.OpenTTY()
	if err != nil {
		return nil, nil, nil, failf(errNoScreen, "there is no terminal to browse on")
	}
	return ttyIn, ttyOut, func() { _, _ = ttyIn.Close(), ttyOut.Close() }, nil
}

// heldBack keeps warnings until the screen is no longer in use.
type heldBack struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heldBack) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

// saying is the same program, that says to w what it has to say.
func (a *app) saying(w io.Writer) *app {
	other, streams := *a, *a.Streams
	streams.Err, streams.ErrTTY = w, false
	other.Streams = &streams
	return &other
}

// exportNew writes one session to a file that is not there yet, in the format that
// its name asks for.
func (a *app) exportNew(ctx context.Context, db *sessiondb.DB, id, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return failf(fs.ErrExist, "%s is there already: nothing is overwritten", file)
	}
	return a.writeTo(file, nil, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		_, err := export.As(ctx, db, b, sessiondb.ExportFilter{IDs: []string{id}}, export.Named(file))
		return errors.Join(err, b.Flush()) // what could be read is worth having
	})
}

// execute runs a command on a session. Whatever an id looks like, it is one
// word of it.
func (a *app) execute(ctx context.Context, words []string, id string) error {
	if strings.HasPrefix(id, "-") || strings.ContainsRune(id, 0) {
		return failf(sessiondb.ErrInvalid, "the id %q would be taken for something else by the command", id)
	}
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = strings.ReplaceAll(w, "{id}", id)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) // #nosec G204 -- it is what the person asked to run
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%s: it failed: %w", words[0], err)
	}
	return err
}

// commandWords splits a command into words as a shell does, and knows nothing
// else of it: no variables, no pipes.
func commandWords(command string) (words []string, err error) {
	if command == "" {
		return nil, nil
	}
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, usagef("the command of --exec has a quote that is not closed: %s", command)
	case len(words) == 0 || words[0] == "":
		return nil, usagef("the command of --exec is empty")
	case strings.Contains(words[0], "{id}"):
		return nil, usagef("the command of --exec begins with {id}: an id is no program")
	case !strings.Contains(command, "{id}"):
		return nil, usagef("the command of --exec has no {id} in it")
	}
	return words, nil
}
