package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// copied is what the copy command tells.
type copied struct {
	sessiondb.CopyReport
	Seconds float64 `json:"seconds"`
}

func (a *app) copyCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy --from STORE --to STORE",
		Short: "Copy everything into another store, also from or to a server",
		Long: `Copy every session, every message and what belongs to them from one store to
another, each a FILE or postgres://..., with ids and all values as they are. Then
both are read and compared row by row; what was written to the source meanwhile
is copied too, or it is said that writing has to stop.

The target must be empty, or have a copy of the same source that was interrupted,
at any moment: that one is gone on with. Nobody may write to the target before
the copy is done.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case from == "" || to == "":
				return usagef("from where, and where to? Give --from STORE and --to STORE")
			case a.store != "":
				return usagef("--db names one store, and a copy has two: give --from and --to")
			}
			return a.copy(cmd.Context(), from, to)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the `STORE` to copy, a file or postgres://...")
	cmd.Flags().StringVar(&to, "to", "", "the `STORE` to copy into, a file or postgres://...")
	_ = cmd.MarkFlagFilename("from", "db")
	_ = cmd.MarkFlagFilename("to", "db")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

func (a *app) copy(ctx context.Context, from, to string) (err error) {
	a.strict = true // of a damaged store no copy is made
	a.store = to
	path, err := a.storePath()
	if err != nil {
		return err
	}
	var r copied
	a.store = from
	err = a.read(ctx, func(source *sessiondb.DB) error {
		a.store = to
		there, err := a.current(ctx, path)
		if err == nil && !there { // a source that is refused leaves no target behind
			err = sessiondb.CheckCopy(ctx, source, sqlite.SchemaVersion)
		}
		if err != nil {
			return err
		}
		return a.create(ctx, func(target *sessiondb.DB) (err error) {
			begun := time.Now()
			p := a.NewProgress()
			defer p.Done()
			r.CopyReport, err = sessiondb.Copy(ctx, source, target, sessiondb.CopyOptions{Progress: withRate(p)})
			r.Seconds = time.Since(begun).Seconds()
			return err
		})
	})
	if err != nil {
		return err
	}
	return a.copied(r)
}

// current reports whether there is a target, and refuses one that opening would
// migrate: nobody asked for that.
func (a *app) current(ctx context.Context, path string) (there bool, err error) {
	if _, err := a.existing(); err != nil {
		return false, nil // there is none, or the next one to open it says what is wrong
	}
	err = a.with(ctx, path, true, func(db *sessiondb.DB) error {
		v := db.Info().SchemaVersion
		there = v > 0
		if there && v < sqlite.SchemaVersion && !onServer(path) {
			return failf(sessiondb.ErrNotEmpty, "%s is a store of schema version %d: a copy goes into a new one", path, v)
		}
		return nil
	})
	if errors.Is(err, errNoStore) || errors.Is(err, sessiondb.ErrReadOnly) {
		return false, nil
	}
	return there, err
}

// withRate shows progress with the rows a second.
func withRate(p *term.Progress) func(what string, done, total int64) {
	var now string
	var begun time.Time
	var first int64
	return func(what string, done, total int64) {
		if what != now {
			now, begun, first = what, time.Now(), done
		}
		if s := time.Since(begun).Seconds(); s > 1 {
			what += fmt.Sprintf(" (%s a second)", term.Grouped(int64(float64(done-first)/s)))
		}
		p.Report(what, done, total)
	}
}

func (a *app) copied(r copied) error {
	if a.json {
		return printJSON(a, r)
	}
	if !a.OutTTY {
		_, err := fmt.Fprintf(a.Out, "%s\t%d\t%d\t%d\t%s\n", term.Line(r.To), r.Sessions, r.Messages, r.Others, r.Checksum)
		return err
	}
	_, err := fmt.Fprintf(a.Out, "copied %s to %s: %s, %s, %s, and compared every one; %.1f s, %s a second\n", term.Line(r.From), term.Line(r.To),
		count(r.Sessions, "session"), count(r.Messages, "message"), count(r.Others, "other row"), r.Seconds,
		count(int64(float64(r.Stored)/r.Seconds), "row"))
	return err
}
