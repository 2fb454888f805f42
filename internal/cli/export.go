package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/redact"
)

func (a *app) exportCommand() *cobra.Command {
	var f sessiondb.ExportFilter
	var output string
	var masked bool
	cmd := &cobra.Command{
		Use:   "export [SESSION...]",
		Short: "Write sessions with their messages as JSON lines",
		Long: `Write sessions with their messages as JSON, one session a line: those given, or
all. A file is written under a temporary name and takes its place when it is
complete.

With --redact, what looks like an API key, a token or a password is masked as
[redacted:RULE], in all of a session once it was recognized anywhere in it, and
how many are is told on the standard error. Read a file before you give it away
all the same: a secret that looks like nothing is not found.`,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				for _, ref := range args {
					s, err := a.find(ctx, db, ref)
					if err != nil {
						return err
					}
					f.IDs = append(f.IDs, s.ID)
				}
				if masked {
					return a.exportRedacted(ctx, db, f, output)
				}
				return a.export(ctx, db, f, output)
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of the standard output")
	cmd.Flags().StringVar(&f.Source, "source", "", "only sessions from `SOURCE`")
	cmd.Flags().BoolVar(&masked, "redact", false, "mask what looks like an API key, a token or a password")
	a.completeSource(cmd, "source")
	return cmd
}

func (a *app) exportRedacted(ctx context.Context, db *sessiondb.DB, f sessiondb.ExportFilter, output string) error {
	r := redact.New()
	f.Redact = r.Session
	err := a.export(ctx, db, f, output)
	total := int64(0)
	var rules []string
	for _, c := range r.Counts() {
		total += c.Count
		rules = append(rules, fmt.Sprintf("%s %d", c.Rule, c.Count))
	}
	if total == 0 {
		a.note("redacted nothing")
	} else {
		a.note("redacted %s: %s", count(total, "secret"), strings.Join(rules, ", "))
	}
	return err
}

func (a *app) export(ctx context.Context, db *sessiondb.DB, f sessiondb.ExportFilter, output string) error {
	if output != "" || !a.OutTTY {
		p := a.NewProgress()
		defer p.Done()
		f.Progress = func(done, total int64) { p.Report("exporting sessions", done, total) }
	}
	damaged := int64(0)
	f.Damaged = func(id string, messages int64, err error) {
		if damaged++; damaged > 20 {
			return // the sum says how many
		}
		a.note("session %s: %s could be read: %v", id, count(messages, "message"), err)
	}
	var n int64
	write := func(w io.Writer) (err error) {
		b := bufio.NewWriterSize(w, 1<<16)
		n, err = db.ExportAll(ctx, b, f)
		return errors.Join(err, b.Flush()) // what could be read is worth having
	}
	if err := a.writeTo(output, write); err != nil {
		return err
	}
	if output != "" {
		a.note("exported %s to %s", count(n, "session"), output)
	}
	if damaged > 0 {
		return fmt.Errorf("export: damaged pages hold part of %s; what could be read is written", count(damaged, "session"))
	}
	return nil
}

// writeTo writes to a file, or to the standard output if output names none.
func (a *app) writeTo(output string, write func(io.Writer) error) error {
	if output == "" || output == "-" {
		return write(a.jsonOut())
	}
	store, err := a.storePath()
	if err != nil {
		return err
	}
	return writeFile(output, store, write)
}
