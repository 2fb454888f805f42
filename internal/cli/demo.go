package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Make a small store in a temporary folder and show what can be done",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "sessiondb-demo-")
			if err != nil {
				return err
			}
			if !keep {
				defer func() { _ = os.RemoveAll(dir) }()
			}
			path := filepath.Join(dir, storeName)
			if err := a.demo(cmd.Context(), path); err != nil {
				return err
			}
			if keep {
				a.note("the store of the demo is %s", path)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the store and tell where it is")
	return cmd
}

// demo fills a store and shows it, as a terminal would and as if the day of its
// story were today.
func (a *app) demo(ctx context.Context, path string) error {
	s := &story{ctx: ctx}
	s.at(4, 9, 0)
	db, err := sqlite.Open(ctx, path, sqlite.Options{Logger: a.logger(), Now: func() time.Time { return s.now }})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	s.db = db
	if s.tell(); s.err != nil {
		return fmt.Errorf("demo: %w", s.err)
	}
	show := *a
	show.store, show.json, show.now = path, false, func() time.Time { return s.now }
	streams := *a.Streams
	streams.OutTTY = true
	show.Streams = &streams
	steps := []struct {
		typed string
		run   func() error
	}{
		{"list", func() error { return show.list(ctx, db, sessiondb.ListFilter{ByLastActive: true}) }},
		{"search 배포", func() error {
			return show.search(ctx, db, searchRequest{SearchQuery: sessiondb.SearchQuery{Text: "배포"}})
		}},
		{"lineage 'move to docker #3'", func() error { return show.lineage(ctx, db, "20260504_092000_d0cc03") }},
		{"usage --by model", func() error { return show.usage(ctx, db, "model", sessiondb.UsageFilter{}) }},
	}
	for _, step := range steps {
		if _, err := fmt.Fprintln(a.Out, a.Paint(term.Bold, "$ sessiondb "+step.typed)); err != nil {
			return err
		}
		if err := step.run(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.Out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(a.Out, demoEnd)
	return err
}

const demoEnd = `Try it on your own ~/.hermes/state.db (these three only read it):
  sessiondb list
  sessiondb search "what you remember of it"
  sessiondb resume SESSION
`
