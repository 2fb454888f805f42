package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

func (a *app) resumeCommand() *cobra.Command {
	var ancestors bool
	cmd := &cobra.Command{
		Use:   "resume SESSION",
		Short: "Print the conversation to go on with",
		Long: `Print the conversation to go on with: where the session was compressed, the live
end of its chain. With --json, in the form that is sent to a model, one message
a line.`,
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				s, err := a.find(ctx, db, args[0])
				if err != nil {
					return err
				}
				return a.resume(ctx, db, s, ancestors)
			})
		},
	}
	cmd.Flags().BoolVar(&ancestors, "ancestors", false, "with the conversations it came from, oldest first")
	return a.reading(cmd)
}

func (a *app) resume(ctx context.Context, db *sessiondb.DB, s sessiondb.Session, ancestors bool) error {
	id, err := db.ResumeSessionID(ctx, s.ID)
	if err != nil {
		return err
	}
	if id != s.ID {
		a.note("%s goes on as %s", s.ID, id)
	}
	ms, err := db.Conversation(ctx, id, ancestors)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a, ms...)
	}
	w := bufio.NewWriter(a.Out)
	for i, m := range ms {
		if i > 0 {
			_, _ = fmt.Fprintln(w)
		}
		a.turn(w, m)
	}
	return w.Flush()
}

func (a *app) turn(w io.Writer, m sessiondb.ConversationMessage) {
	head := m.Role
	if m.ToolName != "" {
		head += " " + m.ToolName
	}
	_, _ = fmt.Fprintln(w, a.Paint(term.Cyan, term.Line(head)+":"))
	a.paragraph(w, contentText(m.Content))
	var calls []json.RawMessage
	_ = json.Unmarshal(m.ToolCalls, &calls)
	for _, call := range calls {
		a.toolCall(w, call)
	}
}

// contentText is what a person reads of content in JSON.
func contentText(raw json.RawMessage) string {
	var s *string
	if json.Unmarshal(raw, &s) == nil {
		return deref(s)
	}
	return transcript.Text(sessiondb.Structured(raw))
}
