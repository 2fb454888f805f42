package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// oneOf checks the value of a flag that has few.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("--%s %q: it is one of %s", flag, value, strings.Join(allowed, ", "))
}

// oneSession is the check of a command's arguments that are one session.
func oneSession(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usagef("which session? Give an id, the beginning of one, or a title")
	case 1:
		return nil
	}
	return usagef("one session, not %d: put quotes around a title of several words", len(args))
}
