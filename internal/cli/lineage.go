package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (a *app) lineageCommand() *cobra.Command {
	return a.reading(&cobra.Command{
		Use:   "lineage SESSION",
		Short: "Show what a session came from and what came from it",
		Long: `Show the whole tree a session belongs to: ● its root, ↓ what went on after a
compression, ├ branches, · delegates (sessions of subagents).`,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				s, err := a.find(ctx, db, args[0])
				if err != nil {
					return err
				}
				return a.lineage(ctx, db, s.ID)
			})
		},
	})
}

func (a *app) lineage(ctx context.Context, db *sessiondb.DB, id string) error {
	nodes, err := db.Lineage(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, nodes...)
	}
	t := a.NewTable(
		term.Column{Name: "depth", Plain: true},
		term.Column{Name: "id"},
		term.Column{Name: "kind", Drop: 1},
		term.Column{Name: "title", Min: 16},
		term.Column{Name: "source", Min: 6, Drop: 3},
		term.Column{Name: "messages", Right: true, Drop: 2},
		term.Column{Name: "started", Right: true, Drop: 1},
	)
	now := a.now()
	var indent indentation
	for _, n := range nodes {
		shown := strings.Repeat("  ", indent.of(n)) + marks[n.Kind] + " " + n.ID
		if n.ID == id {
			shown += " *"
		}
		if err := t.Row(term.Int(int64(n.Depth)), term.Alternatives(shown, n.ID), term.Text(string(n.Kind)), term.Text(deref(n.Title)),
			term.Text(n.Source), term.Int(n.MessageCount), term.Time(now, n.StartedAt)); err != nil {
			return err
		}
	}
	return t.Flush()
}

var marks = map[sessiondb.Kind]string{
	sessiondb.Root: "●", sessiondb.Continuation: "↓", sessiondb.Branch: "├", sessiondb.Delegate: "·",
}

// indentation is how far nodes are set in, by depth of those above the last.
// What continues a session stands right below it: a chain can be long.
type indentation []int

// maxIndent leaves room for ids however deep a tree is.
const maxIndent = 12

func (in *indentation) of(n sessiondb.LineageNode) int {
	at := 0
	if n.Depth > 0 && n.Depth <= len(*in) {
		at = (*in)[n.Depth-1]
		if n.Kind != sessiondb.Continuation {
			at = min(at+1, maxIndent)
		}
	}
	*in = append((*in)[:min(n.Depth, len(*in))], at)
	return at
}
