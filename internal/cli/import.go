package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) importCommand() *cobra.Command {
	var o sessiondb.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read sessions that export wrote",
		Long: `Read sessions that export wrote, from FILE or, with -, from the standard input.
The store is made if there is none. Sessions that exist are left as they are, a
line that can't be used costs that line; both are told. An import that was
interrupted can be run again.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("which file? Give one, or - for the standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := a.In
			if args[0] != "-" {
				if err := a.notOfStore(args[0]); err != nil {
					return err
				}
				f, err := os.Open(args[0])
				if err != nil {
					return failf(err, "import %s: %v", args[0], cause(err))
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			lines := bufio.NewReader(&interruptible{ctx: cmd.Context(), r: in})
			if err := importable(args[0], lines); err != nil {
				return err
			}
			return a.importFrom(cmd.Context(), lines, o)
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "tell what would happen and change nothing")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
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

// importable looks at the beginning of what is to be imported, before a store
// is made for it.
func importable(name string, in *bufio.Reader) error {
	const database = "SQLite format 3\x00"
	head, err := in.Peek(len(database))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return failf(err, "import %s: %v", name, cause(err))
	case string(head) == database:
		return failf(fs.ErrInvalid, "import %s: it is a database, not an export: read it with --db, or export it first", name)
	}
	return nil
}

func (a *app) importFrom(ctx context.Context, in io.Reader, o sessiondb.ImportOptions) error {
	open := a.create
	if o.DryRun {
		open = a.read
	}
	return open(ctx, func(db *sessiondb.DB) error {
		p := a.NewProgress()
		o.Progress = func(lines int64) { p.Report("importing sessions", lines, 0) }
		r, err := db.Import(ctx, in, o)
		p.Done()
		if err != nil && r.Imported == 0 {
			return err
		}
		if err != nil {
			err = failf(errors.Join(errPartly, err), "%v", err)
		}
		return cmp.Or(err, a.imported(r, o.DryRun))
	})
}

func (a *app) imported(r sessiondb.ImportReport, dryRun bool) error {
	if a.json {
		if err := printJSON(a, r); err != nil {
			return err
		}
	} else if err := a.importText(r, dryRun); err != nil {
		return err
	}
	if n := len(r.Failed); n > 0 {
		return fmt.Errorf("import: %s could not be used", count(int64(n), "line"))
	}
	return nil
}

func (a *app) importText(r sessiondb.ImportReport, dryRun bool) error {
	a.issues("skipped", r.Skipped)
	a.issues("changed", r.Changed)
	a.issues("failed", r.Failed)
	did := "imported"
	if dryRun {
		did = "would import"
	}
	_, err := fmt.Fprintf(a.Out, "%s %s, %s; %s skipped\n", did, count(r.Imported, "session"), count(r.Messages, "message"),
		term.Grouped(int64(len(r.Skipped))))
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
		where := fmt.Sprintf("line %d", i.Line)
		if i.SessionID != "" {
			where += ", session " + i.SessionID
		}
		a.note("%s %s: %s", what, where, i.Reason)
	}
}
