package cli

import (
	"context"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// storeStats is what the stats command tells.
type storeStats struct {
	Path          string                  `json:"path"`
	SchemaVersion int                     `json:"schema_version"`
	Sessions      int64                   `json:"sessions"`
	Messages      int64                   `json:"messages"`
	FileBytes     int64                   `json:"file_bytes"`
	WALBytes      int64                   `json:"wal_bytes"`
	Trash         int64                   `json:"trash"` // conversations
	Sources       []sessiondb.SourceCount `json:"sources"`

	Space *sessiondb.Space `json:"space,omitempty"` // with --space
}

func (a *app) statsCommand() *cobra.Command {
	var space bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what is in the store and what it takes on the disk",
		Long: `Count what is in the store and what it takes on the disk.

With --space it also tells what takes how much room: messages, the full-text
indexes (their copy of the text, and what they find by), ordinary indexes, free
pages. For that it looks at every page; a gigabyte takes some seconds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				s, err := a.stats(ctx, db, space)
				if err != nil {
					return err
				}
				if a.json {
					return printJSON(a, s)
				}
				return a.statsTable(s)
			})
		},
	}
	cmd.Flags().BoolVar(&space, "space", false, "tell what takes how much room")
	return a.reading(cmd)
}

func (a *app) stats(ctx context.Context, db *sessiondb.DB, space bool) (s storeStats, err error) {
	if s.Path, err = a.storePath(); err != nil {
		return s, err
	}
	s.SchemaVersion = db.Info().SchemaVersion
	if onServer(s.Path) {
		s.Path = db.Place()
		if s.FileBytes, err = db.Size(ctx); err != nil {
			return s, err
		}
	} else {
		s.FileBytes, s.WALBytes = size(s.Path), size(s.Path+"-wal")
	}
	if s.Sessions, err = db.SessionCount(ctx, ""); err != nil {
		return s, err
	}
	if s.Messages, err = db.MessageCount(ctx, ""); err != nil {
		return s, err
	}
	if s.Trash, _, err = db.TrashSize(ctx); err != nil {
		return s, err
	}
	if s.Sources, err = db.Sources(ctx); err == nil && space {
		s.Space, err = a.space(ctx, db)
	}
	return s, err
}

// space measures the store, which takes a while.
func (a *app) space(ctx context.Context, db *sessiondb.DB) (*sessiondb.Space, error) {
	defer a.working("looking at every page")()
	s, err := db.Space(ctx)
	return &s, err
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (a *app) statsTable(s storeStats) error {
	t := a.NewTable(term.Column{Name: "what", Min: 12}, term.Column{Name: "value", Right: true, Min: 20})
	row := func(what string, c term.Cell) error { return t.Row(term.Text(what), c) }
	rows := []struct {
		what string
		cell term.Cell
	}{
		{"path", term.Text(s.Path)},
		{"schema version", term.Int(int64(s.SchemaVersion))},
		{"sessions", term.Int(s.Sessions)},
		{"messages", term.Int(s.Messages)},
		{"conversations in the trash", term.Int(s.Trash)},
		{"file", sizeCell(s.FileBytes)},
		{"write-ahead log", sizeCell(s.WALBytes)},
	}
	if onServer(s.Path) {
		rows = rows[:len(rows)-1] // the log is the server's
		rows[len(rows)-1].what = "on the server"
	}
	for _, r := range rows {
		if err := row(r.what, r.cell); err != nil {
			return err
		}
	}
	for _, src := range s.Sources {
		if err := row("sessions from "+src.Source, term.Int(src.Sessions)); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil || s.Space == nil {
		return err
	}
	return a.spaceTable(*s.Space)
}

func sizeCell(n int64) term.Cell { return term.Alternatives(term.Bytes(n), strconv.FormatInt(n, 10)) }
