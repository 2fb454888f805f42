package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// recovered is what the recover command tells.
type recovered struct {
	Source        string           `json:"source"`
	Destination   string           `json:"destination"`
	Complete      bool             `json:"complete"`
	SchemaVersion int              `json:"schema_version"`
	FromVersion   int              `json:"from_version"`
	SchemaDamaged bool             `json:"schema_damaged"`
	Tables        []recoveredTable `json:"tables"`
	PagesLost     int64            `json:"pages_lost"`
	LogFrames     int64            `json:"log_frames"`
	LogFramesLost int64            `json:"log_frames_lost"`
	JournalPages  int64            `json:"journal_pages"`
	Placeholders  []string         `json:"placeholders"`
	Retitled      []string         `json:"retitled"`
	Repaired      []mended         `json:"repaired"`
	Changed       bool             `json:"changed"`
	Notes         []string         `json:"notes"`
}

// mended is a thing that was done so that rows fit each other.
type mended struct {
	Code string `json:"code"`
	What string `json:"what"`
}

type recoveredTable struct {
	Name      string `json:"name"`
	Rows      int64  `json:"rows"`
	Found     int64  `json:"found"`
	Cut       int64  `json:"cut"`
	Rebuilt   int64  `json:"rebuilt"`
	Lost      int64  `json:"lost"`
	PagesLost int64  `json:"pages_lost"`
}

func (a *app) recoverCommand() *cobra.Command {
	return a.reading(&cobra.Command{
		Use:   "recover SRC DST",
		Short: "Save what can be read of a damaged store into a new one",
		Long: `Reads a damaged store page by page and makes a new one of every row that is left.
SRC is not changed; end the programs that use it first. DST must not exist.

Exit code 4 says that something is missing; the table says what.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("recover takes two names: the damaged store and the new one, not %d", len(args))
			}
			if args[0] == "" || args[1] == "" {
				return usagef("a name is empty: give the damaged store and the new one")
			}
			return notOnServer(args[0], "recover reads a file; restore a dump of it with pg_restore")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p := a.NewProgress()
			report, err := sqlite.Recover(cmd.Context(), args[0], args[1], sqlite.RecoverOptions{Logger: a.logger(), Progress: p.Report})
			p.Done()
			if err != nil {
				return nothingToRecover(err)
			}
			if err := a.printRecovered(args[0], args[1], report); err != nil {
				return err
			}
			if !report.Complete() {
				return failf(errIncomplete, "%s holds what could be read; some is missing", args[1])
			}
			return nil
		},
	})
}

// nothingToRecover marks an error that is about what was to be read.
func nothingToRecover(err error) error {
	if errors.Is(err, sessiondb.ErrNotStore) {
		return failf(errors.Join(errNoWreck, err), "%v", err)
	}
	return err
}

func (a *app) printRecovered(src, dst string, r sqlite.RecoverReport) error {
	if a.json {
		out := recovered{
			Source: src, Destination: dst, Complete: r.Complete(), SchemaVersion: r.SchemaVersion, FromVersion: r.FromVersion,
			SchemaDamaged: r.SchemaDamaged, PagesLost: r.PagesLost, LogFrames: r.LogFrames, LogFramesLost: r.LogFramesLost,
			JournalPages: r.JournalPages, Placeholders: orEmpty(r.Placeholders), Retitled: orEmpty(r.Retitled), Changed: r.Changed,
			Repaired: []mended{}, Notes: orEmpty(r.Notes),
		}
		for _, d := range r.Repaired {
			out.Repaired = append(out.Repaired, mended{d.Code, d.What})
		}
		for _, t := range r.Tables {
			out.Tables = append(out.Tables, recoveredTable(t))
		}
		return printJSON(a, out)
	}
	a.noteRecovered(r)
	number := func(name string) term.Column { return term.Column{Name: name, Right: true, Min: 4} }
	t := a.NewTable(term.Column{Name: "table", Min: 12}, number("rows"), number("found"), number("cut"), number("rebuilt"), number("lost"), number("pages lost"))
	for _, row := range r.Tables {
		err := t.Row(term.Text(row.Name), term.Int(row.Rows), term.Int(row.Found), term.Int(row.Cut), term.Int(row.Rebuilt), term.Int(row.Lost), term.Int(row.PagesLost))
		if err != nil {
			return err
		}
	}
	return t.Flush()
}

// noteRecovered says what has no place in the table.
func (a *app) noteRecovered(r sqlite.RecoverReport) {
	if r.Changed {
		a.note("another program wrote to the file meanwhile: end it and run this again")
	}
	if r.SchemaDamaged {
		a.note("part of the schema can't be read: rows were told apart by their shape, and tables of other programs may be missing")
	}
	if r.JournalPages > 0 {
		a.note("a transaction that did not end was taken back, on %d pages", r.JournalPages)
	}
	if r.LogFramesLost > 0 {
		a.note("%d pages of the write-ahead log are damaged, or stand behind one that is", r.LogFramesLost)
	}
	if len(r.Placeholders) > 0 {
		a.note("these sessions are lost and were made anew for their messages: %s", strings.Join(r.Placeholders, ", "))
	}
	if len(r.Retitled) > 0 {
		a.note("the title of these sessions was taken by another one, and got a number: %s", strings.Join(r.Retitled, ", "))
	}
	for _, d := range r.Repaired {
		a.note("%s", d.What)
	}
	for _, n := range r.Notes {
		a.note("%s", n)
	}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
