package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

func (a *app) showCommand() *cobra.Command {
	var around int64
	var window int
	cmd := &cobra.Command{
		Use:               "show SESSION",
		Short:             "Print the messages of a session",
		Args:              oneSession,
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.read(ctx, func(db *sessiondb.DB) error {
				s, err := a.find(ctx, db, args[0])
				if err != nil {
					return err
				}
				var ms []sessiondb.Message
				if cmd.Flags().Changed("around") {
					ms, err = messagesAround(ctx, db, s.ID, around, window)
				} else {
					ms, err = db.Messages(ctx, s.ID)
				}
				if err != nil {
					return err
				}
				return a.show(s, ms, around)
			})
		},
	}
	cmd.Flags().Int64Var(&around, "around", 0, "only the messages around message `ID`")
	cmd.Flags().IntVar(&window, "window", 5, "with --around: `N` messages before and after")
	return a.reading(cmd)
}

func messagesAround(ctx context.Context, db *sessiondb.DB, id string, around int64, window int) ([]sessiondb.Message, error) {
	v, err := db.MessagesAround(ctx, id, around, window)
	if err == nil && len(v.Window) == 0 {
		err = failf(sessiondb.ErrNotFound, "message %d is not in session %s", around, id)
	}
	return v.Window, err
}

func (a *app) show(s sessiondb.Session, ms []sessiondb.Message, anchor int64) error {
	if a.json {
		return printJSON(a, ms...)
	}
	if !a.OutTTY {
		t := a.NewTable(make([]term.Column, 5)...)
		for _, m := range ms {
			if err := t.Row(term.Alternatives("", fmt.Sprint(m.ID)), term.Time(a.now(), m.Timestamp), term.Text(m.Role),
				term.Text(deref(m.ToolName)), term.Text(transcript.Text(m.Content))); err != nil {
				return err
			}
		}
		return t.Flush()
	}
	w := bufio.NewWriter(a.Out)
	a.sessionHead(w, s)
	for _, m := range ms {
		a.message(w, m, m.ID == anchor)
	}
	return w.Flush()
}

// sessionHead tells what a session is before its messages.
func (a *app) sessionHead(w io.Writer, s sessiondb.Session) {
	parts := []string{s.Source}
	if s.Model != nil {
		parts = append(parts, *s.Model)
	}
	parts = append(parts, "started "+term.Ago(a.now(), s.StartedAt))
	if s.EndReason != nil {
		parts = append(parts, "ended: "+*s.EndReason)
	}
	a.headline(w, s.ID, deref(s.Title))
	for _, part := range term.Wrap(term.Line(strings.Join(parts, " · ")), a.Width) {
		_, _ = fmt.Fprintln(w, a.Paint(term.Dim, part))
	}
}

// headline prints an id, never cut, and as much of the rest as the line takes.
func (a *app) headline(w io.Writer, id, rest string) {
	id = term.Line(id)
	if rest = term.Line(rest); a.OutTTY {
		rest = term.Cut(rest, a.Width-term.Width(id)-2)
	}
	_, _ = fmt.Fprintln(w, strings.TrimRight(a.Paint(term.Bold, id)+"  "+a.Paint(term.Dim, rest), " "))
}

func (a *app) message(w io.Writer, m sessiondb.Message, anchor bool) {
	head := fmt.Sprintf("#%d  %s", m.ID, m.Role)
	if m.ToolName != nil {
		head += " " + *m.ToolName
	}
	if !m.Timestamp.IsZero() {
		head += "  " + m.Timestamp.Local().Format("2006-01-02 15:04:05")
	}
	if anchor {
		head += "  <<<"
	}
	_, _ = fmt.Fprintf(w, "\n%s\n", a.Paint(term.Cyan, term.Cut(term.Line(head), a.Width)))
	a.paragraph(w, transcript.Text(m.Content))
	for _, call := range m.ToolCallList() {
		a.toolCall(w, call)
	}
}

// paragraph prints text, on a terminal broken at its width.
func (a *app) paragraph(w io.Writer, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(term.Safe(text), "\n"), "\n") {
		if !a.OutTTY {
			_, _ = fmt.Fprintln(w, line)
			continue
		}
		for _, part := range term.Wrap(strings.ReplaceAll(line, "\t", "    "), a.Width) {
			_, _ = fmt.Fprintln(w, part)
		}
	}
}
