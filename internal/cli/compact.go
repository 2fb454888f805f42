package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) compactCommand() *cobra.Command {
	var layout string
	cmd := &cobra.Command{
		Use:     "compact",
		Aliases: []string{"vacuum"},
		Short:   "Merge the search indexes and give free space back to the disk",
		Long: `Merge the search indexes, give free space back to the disk, and tell what took
how much room before and takes now. It needs about twice the size of the store
as free space. It may be interrupted at any moment: nothing is lost.

With --layout external the indexes keep no copy of the text of their own but
read it from the messages, which makes the file a good deal smaller; searches
find the same, and programs that know schema version 11 go on working. With
--layout inline they have their copies again, as a new store has.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch sessiondb.IndexLayout(layout) {
			case "", sessiondb.InlineIndexes, sessiondb.ExternalIndexes:
			default:
				return usagef("there is no layout %q: it is inline or external", layout)
			}
			return a.compact(cmd.Context(), sessiondb.IndexLayout(layout))
		},
	}
	cmd.Flags().StringVar(&layout, "layout", "", "how the indexes keep the text: `LAYOUT` is inline (a copy each) or external")
	_ = cmd.RegisterFlagCompletionFunc("layout", cobra.FixedCompletions([]string{"inline", "external"}, cobra.ShellCompDirectiveNoFileComp))
	return a.reading(cmd)
}

func (a *app) compact(ctx context.Context, layout sessiondb.IndexLayout) error {
	var r sessiondb.CompactReport
	err := a.write(ctx, func(db *sessiondb.DB) (err error) {
		p := a.NewProgress()
		defer p.Done()
		r, err = db.Compact(ctx, sessiondb.CompactOptions{Layout: layout, Progress: p.Report})
		return err
	})
	if err != nil {
		return err
	}
	if r.Rebuilt && !r.Older && layout == "" {
		a.note("the search indexes did not match the messages: they were made anew")
	}
	if r.Held {
		a.note("another program is reading: the file gets shorter when it is done")
	}
	if a.json {
		return printJSON(a, r)
	}
	return a.compactTable(r)
}

// compactTable shows each part before and now.
func (a *app) compactTable(r sessiondb.CompactReport) error {
	before, after := spaceLines(r.Before), map[string]int64{}
	for _, l := range spaceLines(r.After) {
		after[l.what] = l.bytes
	}
	t := a.NewTable(term.Column{Name: "what", Min: 12}, term.Column{Name: "before", Right: true}, term.Column{Name: "now", Right: true})
	before = append(before, spaceLine{"together", r.Before.File + r.Before.Log})
	after["together"] = r.After.File + r.After.Log
	for _, l := range spaceLines(r.After) {
		if !hasLine(before, l.what) {
			before = append([]spaceLine{{what: l.what}}, before...)
		}
	}
	for _, l := range before {
		if err := t.Row(term.Text(l.what), sizeCell(l.bytes), sizeCell(after[l.what])); err != nil {
			return err
		}
	}
	if err := t.Row(term.Text("bytes of the file for one of text"), ratioCell(r.Before.Ratio), ratioCell(r.After.Ratio)); err != nil {
		return err
	}
	return t.Flush()
}

func hasLine(lines []spaceLine, what string) bool {
	for _, l := range lines {
		if l.what == what {
			return true
		}
	}
	return false
}
