package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func (a *app) doctorCommand() *cobra.Command {
	var o fixOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for damage, and say what mends it",
		Long: `Look at the store, at the file and at what lies beside it, and print a line for
everything that is wrong, with the command that mends it. Nothing is changed.
With --fix, make a backup and do the least that mends it; no message and no
session is ever deleted. What pages that are damaged held, 'sessiondb recover'
saves into another file.

The exit code is 0 for a sound store, 5 if there are warnings (nothing is lost,
and it can be mended), 6 if there are errors (something is lost, or can't be
read). What the codes of --json mean stands in docs/operations.md.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.fix, "fix", false, "mend what can be mended, after a backup")
	cmd.Flags().StringVar(&o.backup, "backup", "", "put the backup into `FILE` (default: beside the store)")
	cmd.Flags().BoolVar(&o.full, "full", false, "also compare every index entry with its row, and read every text")
	return a.reading(cmd)
}

// fixOptions are the flags of doctor.
type fixOptions struct {
	consent
	full, fix bool
	backup    string
}

func (a *app) doctor(ctx context.Context, o fixOptions) error {
	if !o.fix && (o.yes || o.dryRun || o.backup != "") {
		return usagef("--yes, --dry-run and --backup belong to --fix")
	}
	path, err := a.storePath()
	if err != nil {
		return err
	}
	if o.fix {
		if err := a.possible(o.consent); err != nil {
			return err
		}
	}
	found, err := a.examine(ctx, path, o.full)
	if err == nil && o.fix {
		return a.fix(ctx, path, o, found)
	}
	return firstOf(a.printFindings(found), err, verdict(found))
}

// examine checks the store at path, whatever is there.
func (a *app) examine(ctx context.Context, path string, full bool) ([]sessiondb.Finding, error) {
	stage, done := a.stages("checking")
	defer done()
	o := sessiondb.CheckOptions{Full: full, Progress: stage}
	if onServer(path) {
		return a.checkServer(ctx, path, o)
	}
	return sqlite.Check(ctx, path, o)
}

// printFindings prints a line a finding.
func (a *app) printFindings(found []sessiondb.Finding) error {
	if a.json {
		return printJSON(a, found...)
	}
	if !a.OutTTY {
		t := a.NewTable(term.Column{Name: "code"}, term.Column{Name: "severity"}, term.Column{Name: "what"}, term.Column{Name: "fix"})
		for _, f := range found {
			if err := t.Row(term.Text(f.Code), term.Text(string(f.Severity)), term.Text(f.What), term.Text(f.Fix)); err != nil {
				return err
			}
		}
		return t.Flush()
	}
	for _, f := range found {
		line := fmt.Sprintf("%-8s %s", f.Severity, f.What)
		if next := nextStep(f); next != "" {
			line += "; " + next
		}
		if _, err := fmt.Fprintln(a.Out, term.Line(line)); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(a.Out, "nothing is wrong")
		return err
	}
	return nil
}

// recoverable says that a store lost something, which recover saves.
func recoverable(f sessiondb.Finding) bool { return strings.HasPrefix(f.Fix, "sessiondb recover ") }

// nextStep is the command that mends what was found, or, where something is
// wrong that none mends, what to do.
func nextStep(f sessiondb.Finding) string {
	if f.Fix != "" || !f.Severity.Bad() {
		return f.Fix
	}
	for _, k := range sessiondb.FindingKinds() {
		if k.Code == f.Code {
			return strings.ReplaceAll(k.Advice, "`", "'")
		}
	}
	return ""
}

// verdict is the error that gives the exit code of what was found.
func verdict(found []sessiondb.Finding) error {
	n := map[sessiondb.Severity]int{}
	for _, f := range found {
		n[f.Severity]++
	}
	var parts []string
	for _, s := range []sessiondb.Severity{sessiondb.SeverityError, sessiondb.SeverityWarning} {
		if n[s] == 1 {
			parts = append(parts, "1 "+string(s))
		} else if n[s] > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", n[s], s))
		}
	}
	unusable := func(f sessiondb.Finding) bool { return f.Severity == sessiondb.SeverityError && !recoverable(f) }
	if i := slices.IndexFunc(found, unusable); i >= 0 && !slices.ContainsFunc(found, recoverable) {
		return failf(errUnusable, "%s; %s", found[i].What, nextStep(found[i]))
	}
	told := strings.Join(parts, " and ")
	switch sessiondb.Worst(found) {
	case sessiondb.SeverityError:
		return failf(errDamaged, "the store is damaged: %s", told)
	case sessiondb.SeverityWarning:
		return failf(errUnsound, "the store needs care: %s", told)
	}
	return nil
}
