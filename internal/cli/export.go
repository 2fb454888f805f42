package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/export"
	"github.com/sessiondb-go/sessiondb/internal/redact"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) exportCommand() *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export [SESSION...]",
		Short: "Write sessions with their messages as JSON lines, Markdown or HTML",
		Long: `Write sessions with their messages: those given, or all. A file is written under
a temporary name and takes its place when it is complete.

As JSON lines nothing is lost, one session a line: 'sessiondb import' reads them.
Markdown and HTML are for people to read; a page of HTML is one file that needs no
other, no script and no network.

With --redact, what looks like an API key, a token or a password is masked as
[redacted:RULE], in all of a session once it was recognized anywhere in it, and
how many are is told on the standard error. Read a file before you give it away
all the same: a secret that looks like nothing is not found.`,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("format") {
				e.format = export.Named(e.output)
			}
			if err := oneOf("format", e.format, export.Formats...); err != nil {
				return err
			}
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				if err := a.chooseSessions(ctx, db, &e, args); err != nil {
					return err
				}
				if e.masked {
					return a.exportRedacted(ctx, db, e)
				}
				return a.export(ctx, db, e)
			})
		},
	}
	cmd.Flags().StringVarP(&e.output, "output", "o", "", "write to `FILE`, which is replaced once all is there, instead of the standard output")
	cmd.Flags().StringVar(&e.format, "format", export.JSONL, "what to write: jsonl, markdown or html; else what the name of FILE ends in asks for")
	cmd.Flags().StringVar(&e.filter.Source, "source", "", "only sessions from `SOURCE`")
	cmd.Flags().StringVar(&e.search, "search", "", "sessions in which a message matches `QUERY`, as 'sessiondb search' finds them")
	cmd.Flags().BoolVar(&e.lineage, "lineage", false, "also all sessions that belong to the same tree")
	cmd.Flags().BoolVar(&e.masked, "redact", false, "mask what looks like an API key, a token or a password")
	a.tagFlag(cmd, &e.tags)
	a.completeSource(cmd, "source")
	a.completeFlag(cmd, "format", export.Formats...)
	return cmd
}

// exporting is what an export was asked for.
type exporting struct {
	filter          sessiondb.ExportFilter
	output, format  string
	search          string
	tags            []string
	lineage, masked bool
}

// chooseSessions finds the sessions that were asked for; no ids are all.
func (a *app) chooseSessions(ctx context.Context, db *sessiondb.DB, e *exporting, refs []string) error {
	if len(refs) == 0 && e.search == "" && len(e.tags) == 0 {
		if e.lineage {
			return usagef("--lineage needs a session, --search or --tag")
		}
		return nil
	}
	chosen := []string{}
	for _, ref := range refs {
		s, err := a.find(ctx, db, ref)
		if err != nil {
			return err
		}
		chosen = append(chosen, s.ID)
	}
	if len(e.tags) > 0 && e.search == "" {
		ids, err := db.TaggedSessions(ctx, e.tags...)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			a.note("no conversation has the tag %s", strings.Join(e.tags, " and the tag "))
		}
		chosen = append(chosen, ids...)
	}
	if e.search != "" {
		found, err := db.Search(ctx, sessiondb.SearchQuery{Text: e.search, Tags: e.tags, Limit: -1})
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			chosen = append(chosen, h.SessionID)
		}
		if len(found.Hits) == 0 {
			a.note("nothing found for %s", found.Understood)
		}
	}
	if e.lineage {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(chosen))) {
			tree, err := db.Lineage(ctx, id)
			if err != nil {
				return err
			}
			for _, n := range tree {
				chosen = append(chosen, n.ID)
			}
		}
	}
	slices.Sort(chosen)
	e.filter.IDs = slices.Compact(chosen)
	return nil
}

func (a *app) exportRedacted(ctx context.Context, db *sessiondb.DB, e exporting) error {
	r := redact.New()
	e.filter.Redact = r.Session
	err := a.export(ctx, db, e)
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

func (a *app) export(ctx context.Context, db *sessiondb.DB, e exporting) error {
	f := e.filter
	if e.output != "" || !a.OutTTY {
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
		n, err = export.As(ctx, db, b, f, e.format)
		return errors.Join(err, b.Flush()) // what could be read is worth having
	}
	out := a.jsonOut()
	if a.OutTTY && e.format != export.JSONL {
		out = term.TextWriter(a.Out)
	}
	if err := a.writeTo(e.output, out, write); err != nil {
		return err
	}
	if e.output != "" {
		a.note("exported %s to %s", count(n, "session"), e.output)
	}
	if damaged > 0 {
		return failf(sessiondb.ErrCorrupt, "export: part of %s is lost or lies on damaged pages; what could be read is written", count(damaged, "session"))
	}
	return nil
}

// writeTo writes to a file, or to out if output names none.
func (a *app) writeTo(output string, out io.Writer, write func(io.Writer) error) error {
	if output == "" || output == "-" {
		return write(out)
	}
	store, err := a.storePath()
	if err != nil {
		return err
	}
	return writeFile(output, store, write)
}
