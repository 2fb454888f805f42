package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) deleteCommand() *cobra.Command {
	var c consent
	var files transcriptFiles
	var only, permanent bool
	cmd := &cobra.Command{
		Use:   "delete SESSION",
		Short: "Delete a conversation",
		Long: `Delete a conversation, all parts of it if it was compressed, and its transcript
files. Branches and delegates stay. For 30 days it is in the trash, from where
'trash restore' brings it back, but for the files; with --permanent it is gone.`,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.possible(c); err != nil {
				return err
			}
			return a.delete(cmd.Context(), args[0], c, files, sessiondb.DeleteOptions{Only: only, Trash: !permanent})
		},
	}
	c.flags(cmd)
	files.flags(cmd)
	permanentFlag(cmd, &permanent)
	cmd.Flags().BoolVar(&only, "only", false, "only this session, not the other parts of its conversation")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

func (a *app) delete(ctx context.Context, ref string, c consent, files transcriptFiles, o sessiondb.DeleteOptions) error {
	if err := files.set(a, &o); err != nil {
		return err
	}
	o.DryRun = true
	var s sessiondb.Session
	var would sessiondb.DeleteReport
	err := a.read(ctx, func(db *sessiondb.DB) (err error) {
		if s, err = a.findExactly(ctx, db, ref); err != nil {
			return err
		}
		would, err = db.DeleteSession(ctx, s.ID, o)
		return err
	})
	if err != nil {
		return err
	}
	if c.dryRun {
		return a.deleted("would delete", would)
	}
	name := s.ID
	if s.Title != nil {
		name += fmt.Sprintf(" %q", *s.Title)
	}
	if err := a.ask(ctx, c, fmt.Sprintf("Delete %s%s: %s?", name, forGood(o), strings.Join(sumOf(would), ", "))); err != nil {
		return err
	}
	o.DryRun = false
	return a.write(ctx, func(db *sessiondb.DB) error {
		done, err := db.DeleteSession(ctx, s.ID, o)
		if err != nil {
			return err
		}
		if o.Trash {
			a.note("for 30 days, 'sessiondb trash restore %s' brings it back", sessiondb.ShellQuote(s.ID))
		}
		return a.deleted("deleted", done)
	})
}

func permanentFlag(cmd *cobra.Command, permanent *bool) {
	cmd.Flags().BoolVar(permanent, "permanent", false, "delete for good, past the trash")
}

func forGood(o sessiondb.DeleteOptions) string {
	if o.Trash {
		return ""
	}
	return " for good"
}

// transcriptFiles says what becomes of the transcript files of sessions.
type transcriptFiles struct {
	dir  string
	keep bool
}

func (f *transcriptFiles) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "sessions-dir", "", "the `FOLDER` of transcript files (default: sessions, beside the store)")
	cmd.Flags().BoolVar(&f.keep, "keep-files", false, "leave transcript files alone")
	_ = cmd.MarkFlagDirname("sessions-dir")
}

// set says in the options of a deletion where the files are.
func (f *transcriptFiles) set(a *app, o *sessiondb.DeleteOptions) error {
	if f.keep {
		return nil
	}
	if f.dir != "" {
		info, err := os.Stat(f.dir)
		if err != nil || !info.IsDir() {
			return usagef("--sessions-dir %s: there is no such folder", f.dir)
		}
		o.SessionsDir = f.dir
		return nil
	}
	path, err := a.storePath()
	if err != nil || onServer(path) {
		return err
	}
	dir := filepath.Join(filepath.Dir(path), "sessions")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		o.SessionsDir = dir
	}
	return nil
}

// deleted prints what a deletion took, or would take.
func (a *app) deleted(did string, r sessiondb.DeleteReport) error {
	for _, f := range r.FileErrors {
		a.note("could not remove %s", f)
	}
	for _, id := range r.Referenced {
		a.note("%s stays: rows of another program in this store refer to it", term.Line(id))
	}
	if r.SkippedOpen > 0 {
		are, stay := "are", "stay"
		if r.SkippedOpen == 1 {
			are, stay = "is", "stays"
		}
		a.note("%s %s old enough but never ended, and %s", count(r.SkippedOpen, "session"), are, stay)
	}
	if a.json {
		return printJSON(a, r)
	}
	if !a.OutTTY {
		return a.ids(r.Sessions)
	}
	_, err := fmt.Fprintf(a.Out, "%s %s\n", did, strings.Join(sumOf(r), ", "))
	return err
}

// ids prints an id a line.
func (a *app) ids(ids []string) error {
	for _, id := range ids {
		if _, err := fmt.Fprintf(a.Out, "%s\n", term.Line(id)); err != nil {
			return err
		}
	}
	return nil
}

// sumOf counts what a deletion takes.
func sumOf(r sessiondb.DeleteReport) []string {
	parts := []string{count(int64(len(r.Sessions)), "session"), count(r.Messages, "message")}
	if n := len(r.Files); n > 0 {
		parts = append(parts, count(int64(n), "file"))
	}
	if n := len(r.Orphaned); n > 0 {
		parts = append(parts, count(int64(n), "child session")+" left without parent")
	}
	return parts
}

// count writes a number with its noun.
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return term.Grouped(n) + " " + noun
}
