package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/foreign"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// importing is what the flags of import say.
type importing struct {
	sessiondb.ImportOptions
	format string
}

// importReport is what import tells.
type importReport struct {
	sessiondb.ImportReport
	Ignored []string `json:"ignored,omitempty"` // files in folders that are no transcripts
}

func (a *app) importCommand() *cobra.Command {
	var o importing
	cmd := &cobra.Command{
		Use:   "import FILE or FOLDER...",
		Short: "Read sessions that export, or another program, wrote",
		Long: `Read sessions from files, from every *.jsonl below folders, or, with -, from the
standard input. The store is made if there is none. What a file holds is seen
from its content, or said by --format:

  sessiondb     what export wrote
  claude-code   transcripts of Claude Code (~/.claude/projects)
  codex         rollouts of Codex CLI (~/.codex/sessions)
  hermes-jsonl  the older transcripts of Hermes Agent (~/.hermes/sessions)

A session that exists is compared, and left as it is: another one of its id is
a conflict, which is told. With --extend, one that goes on where the store stops
gets its further messages. A line that can't be used costs that line. To import
again changes nothing, or adds what a transcript has more since; an import that
was interrupted goes on so. Each message of a session comes once, also where
several files have it. See docs/import.md for what becomes of what.`,
		Args: func(_ *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg == "" {
					args = nil
				}
			}
			if len(args) == 0 {
				return usagef("which file? Give one or several, a folder, or - for the standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.format != "" && !slices.Contains(foreign.Formats, o.format) {
				return usagef("--format %q is none of %s", o.format, strings.Join(foreign.Formats, ", "))
			}
			inputs, err := a.importInputs(cmd.Context(), args, foreign.Format(o.format))
			if err != nil {
				return err
			}
			return a.importWith(cmd.Context(), "importing lines", o.ImportOptions, func(im *sessiondb.Importer) (importReport, error) {
				return a.importAll(cmd.Context(), im, inputs)
			})
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "tell what would happen and change nothing")
	cmd.Flags().BoolVar(&o.Extend, "extend", false, "append to sessions what goes on where the store stops")
	cmd.Flags().StringVar(&o.format, "format", "", "what the files hold, whatever they look like: `FORMAT` is "+strings.Join(foreign.Formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(foreign.Formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

// importWith runs an import on the store, and tells what it did.
func (a *app) importWith(ctx context.Context, what string, o sessiondb.ImportOptions, run func(*sessiondb.Importer) (importReport, error)) error {
	open := a.create
	if o.DryRun {
		open = a.readOrEmpty
	}
	return open(ctx, func(db *sessiondb.DB) error {
		p := a.NewProgress()
		o.Progress = func(lines int64) { p.Report(what, lines, 0) }
		r, err := run(db.NewImporter(o))
		p.Done()
		if err != nil && r.Imported+r.Extended == 0 {
			return err
		}
		if err != nil && !errors.Is(err, sessiondb.ErrCorrupt) { // which doesn't go away
			err = failf(errors.Join(errPartly, err), "%v", err)
		}
		return cmp.Or(err, a.imported(r, o.DryRun))
	})
}

// importAll imports the inputs in turn. One that can't be read costs that one,
// unless it is alone.
func (a *app) importAll(ctx context.Context, im *sessiondb.Importer, inputs importInputs) (r importReport, err error) {
	unreadable := inputs.unreadable
	for _, in := range inputs.files {
		readErr, storeErr := in.importTo(ctx, im)
		if errors.Is(readErr, errNoTranscript) && in.walked {
			r.Ignored = append(r.Ignored, in.name)
			continue
		}
		if err = storeErr; err != nil {
			break
		}
		if readErr != nil && len(inputs.files)+len(inputs.unreadable) == 1 {
			err = readErr
		} else if readErr != nil {
			unreadable = append(unreadable, sessiondb.ImportIssue{File: in.name, Reason: fmt.Sprint(cause(readErr))})
		}
	}
	report, finishErr := im.Finish(ctx)
	report.Failed = append(report.Failed, unreadable...)
	if err = errors.Join(err, finishErr); err != nil {
		err = fmt.Errorf("import: %w", err)
	}
	r.ImportReport = report
	return r, err
}

// readOrEmpty is read that takes no store for an empty one.
func (a *app) readOrEmpty(ctx context.Context, fn func(*sessiondb.DB) error) error {
	_, err := a.existing()
	if !errors.Is(err, errNoStore) {
		return a.read(ctx, fn)
	}
	dir, err := os.MkdirTemp("", "sessiondb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return a.with(ctx, filepath.Join(dir, storeName), false, fn)
}

// notOfStore refuses to read a file of the store as if it were an export: when
// it was closed again, the locks of the store would be gone.
func (a *app) notOfStore(path string) error {
	store, err := a.storePath()
	if err != nil {
		return err
	}
	target := resolved(path)
	if info, err := os.Stat(target); err == nil && ofStore(target, info, resolved(store)) {
		return failf(fs.ErrInvalid, "import %s: it is the store itself, or belongs to it; export it first", path)
	}
	return nil
}

func (a *app) imported(r importReport, dryRun bool) error {
	if a.json {
		if err := printJSON(a, r); err != nil {
			return err
		}
	} else if err := a.importText(r, dryRun); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return fmt.Errorf("import: %s could not be used", linesAndFiles(r.Failed))
	}
	if r.Damaged != nil {
		return toldOf(r.Damaged[0], failf(sessiondb.ErrCorrupt, "merge: part of %s is lost or lies on damaged pages; only what can be read of it comes", strings.Join(r.Damaged, " and of ")))
	}
	return nil
}

// linesAndFiles counts what failed: a file that can't be read is no line.
func linesAndFiles(failed []sessiondb.ImportIssue) string {
	var files int64
	for _, i := range failed {
		if i.Line == 0 && i.SessionID == "" {
			files++
		}
	}
	var parts []string
	if lines := int64(len(failed)) - files; lines > 0 {
		parts = append(parts, count(lines, "line"))
	}
	if files > 0 {
		parts = append(parts, count(files, "file"))
	}
	return strings.Join(parts, " and ")
}

func (a *app) importText(r importReport, dryRun bool) error {
	a.issues("conflict", r.Conflicts)
	a.issues("changed", r.Changed)
	a.issues("odd", r.Odd)
	a.issues("left out", r.LeftOut)
	a.issues("failed", r.Failed)
	did := "imported"
	if dryRun {
		did = "would import"
	}
	line := fmt.Sprintf("%s %s, %s; %s the same", did, count(r.Imported, "session"), count(r.Messages, "message"), term.Grouped(r.Same))
	if r.Extended > 0 {
		line += ", " + term.Grouped(r.Extended) + " went on"
	}
	if n := len(r.Conflicts); n > 0 {
		line += ", " + count(int64(n), "conflict")
	}
	if n := len(r.Ignored); n > 0 {
		line += ", " + count(int64(n), "other file") + " ignored"
	}
	_, err := fmt.Fprintln(a.Out, line)
	return err
}

// maxIssues is how many lines are named one by one.
const maxIssues = 100

func (a *app) issues(what string, issues []sessiondb.ImportIssue) {
	for n, i := range issues {
		if n == maxIssues {
			a.note("%s %s more; --json names them all", what, count(int64(len(issues)-n), "line"))
			return
		}
		a.note("%s %s: %s", what, issuePlace(i), i.Reason)
	}
}

// issuePlace is where something was read: file:line, as compilers have it.
func issuePlace(i sessiondb.ImportIssue) string {
	place := ""
	switch {
	case i.File != "" && i.Line > 0:
		place = fmt.Sprintf("%s:%d", i.File, i.Line)
	case i.Line > 0:
		place = fmt.Sprintf("line %d", i.Line)
	default:
		place = i.File
	}
	switch {
	case i.SessionID == "":
		return place
	case place == "":
		return "session " + i.SessionID
	}
	return place + ", session " + i.SessionID
}
