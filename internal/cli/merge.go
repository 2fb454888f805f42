package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
)

func (a *app) mergeCommand() *cobra.Command {
	var o sessiondb.ImportOptions
	cmd := &cobra.Command{
		Use:   "merge STORE...",
		Short: "Take over the sessions of other stores",
		Long: `Take over the sessions that other stores hold, each a FILE of any schema version
or postgres://..., with all their columns, lineage and usage. The other stores are
read and not changed; this one is made if there is none.

A session whose id is here is compared. If the other store has more of it,
--extend appends that; whatever else differs is a conflict, and named. Nothing is
overwritten, and to merge again changes nothing.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which store? Give the path of one, or several")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.merge(cmd.Context(), args, o) },
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "tell what would happen and change nothing")
	cmd.Flags().BoolVar(&o.Extend, "extend", false, "append to sessions what goes on where this store stops")
	cmd.Flags().BoolVar(&a.json, "json", false, "print what was done as JSON (see docs/json.md)")
	return cmd
}

// merge imports each of the other stores, and tells of all at the end.
func (a *app) merge(ctx context.Context, others []string, o sessiondb.ImportOptions) error {
	for _, other := range others {
		if err := a.mergeable(other); err != nil {
			return err
		}
	}
	return a.importWith(ctx, "merging sessions", o, func(im *sessiondb.Importer) (r importReport, err error) {
		for _, other := range others {
			err = a.otherStore(other, func() error {
				return a.read(ctx, func(source *sessiondb.DB) error { return im.Store(ctx, other, source) })
			})
			if err != nil {
				err = fmt.Errorf("merge %s: %w", other, err)
				break
			}
		}
		report, finishErr := im.Finish(ctx)
		r.ImportReport = report
		return r, errors.Join(err, finishErr)
	})
}

// mergeable looks at another store before anything is made for it.
func (a *app) mergeable(other string) error {
	if !onServer(other) {
		if err := a.notOfStore(other); err != nil {
			return failf(fs.ErrInvalid, "merge %s: it is the store itself, or belongs to it", other)
		}
	}
	return a.otherStore(other, func() error {
		_, err := a.existing()
		return err
	})
}

// otherStore runs fn as if --db named another store.
func (a *app) otherStore(other string, fn func() error) error {
	own := a.store
	a.store = other
	defer func() { a.store = own }()
	return fn()
}
