package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// oneOf checks the value of a flag that has few.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("--%s %q: it is one of %s", flag, value, strings.Join(allowed, ", "))
}

// plausible checks what holds for every flag: a value that is empty, mostly that
// of an unset variable in a script, would widen what a command does, and no
// number is negative.
func plausible(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch v := f.Value.String(); {
		case v == "" || f.Value.Type() == "stringSlice" && v == "[]":
			err = usagef("--%s is empty: give it a value, or leave it out", f.Name)
		case isNumber(f) && strings.HasPrefix(v, "-"):
			err = usagef("--%s %s: it can't be negative", f.Name, v)
		}
	})
	return err
}

func isNumber(f *pflag.Flag) bool { return strings.HasPrefix(f.Value.Type(), "int") }

// flagError says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if e := (*pflag.InvalidValueError)(nil); errors.As(err, &e) {
		switch f := e.GetFlag(); {
		case isNumber(f):
			return fmt.Errorf("--%s %q: it is a whole number", f.Name, e.GetValue())
		case f.Value.Type() == "bool":
			return fmt.Errorf("--%s=%s: it is true or false", f.Name, e.GetValue())
		}
	}
	if cmd.Name() == "search" {
		return fmt.Errorf("%w (put -- before a query in which a word begins with a hyphen)", err)
	}
	return err
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

// when reads a time: a date, RFC 3339, or how long ago, such as 7d.
func (a *app) when(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.ParseInLocation(layout, value, time.Local); err == nil {
			return t, nil
		}
	}
	if d, ok := parseAge(value); ok {
		return a.now().Add(-d), nil
	}
	return time.Time{}, usagef("--%s %q: it is a date such as 2026-01-31, or how long ago, such as 7d", flag, value)
}

// maxAge keeps ages within what a time.Duration holds.
const maxAge = 200 * 365 * 24 * time.Hour

// parseAge reads a whole number of weeks, days, hours or minutes: 90d.
func parseAge(s string) (time.Duration, bool) {
	units := map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute}
	if s == "" {
		return 0, false
	}
	unit, ok := units[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt64, nil
	}
	if !ok || err != nil {
		return 0, false
	}
	d := time.Duration(n) // #nosec G115 -- it was read as 63 bits
	if d > maxAge/unit {
		return maxAge, true
	}
	return d * unit, true
}
