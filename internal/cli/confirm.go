package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// consent is how a destructive command is agreed to.
type consent struct {
	yes    bool
	dryRun bool
}

func (c *consent) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "tell what would happen and change nothing")
}

// possible refuses early what could not be asked.
func (a *app) possible(c consent) error {
	if c.yes || c.dryRun || a.InTTY && a.ErrTTY {
		return nil
	}
	return failf(errNoTerminal, "can't ask whether to go ahead: there is no terminal")
}

// ask returns nil if the person agrees.
func (a *app) ask(ctx context.Context, c consent, question string) error {
	if c.yes {
		return nil
	}
	_, _ = fmt.Fprintf(a.Err, "%s [y/N] ", term.Line(question))
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
	}
	return errUnconfirmed
}
