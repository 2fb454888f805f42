package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

func (a *app) searchGrouped(ctx context.Context, db *sessiondb.DB, q sessiondb.SearchQuery) error {
	found, err := db.SearchGrouped(ctx, q)
	if err != nil {
		return err
	}
	if past, err := a.pastEnd(ctx, db, q, len(found.Conversations)); past || err != nil {
		return err
	}
	a.tellReading(found.SearchReading, len(found.Conversations))
	return printFound(a, found.Conversations, a.conversationTable, a.conversation)
}

func (a *app) conversationTable(cs []sessiondb.ConversationHit) error {
	t := a.NewTable(make([]term.Column, 7)...)
	for _, c := range cs {
		if err := t.Row(term.Text(c.TipID), term.Text(deref(c.Title)), term.Int(c.Hits), term.Alternatives("", fmt.Sprint(c.Best.MessageID)),
			term.Time(a.now(), c.Best.Timestamp), term.Text(c.Best.Source), term.Text(strings.TrimSpace(c.Best.Snippet))); err != nil {
			return err
		}
	}
	return t.Flush()
}

// conversation shows the best hit of a conversation among its neighbours.
func (a *app) conversation(w io.Writer, c sessiondb.ConversationHit) {
	rest := fmt.Sprintf("%s · %s · %s", c.Best.Source, count(c.Hits, "hit"), term.Ago(a.now(), c.Best.Timestamp))
	if len(c.Tags) > 0 {
		rest = transcript.Tags(c.Tags) + " · " + rest
	}
	if c.Title != nil {
		rest = *c.Title + " · " + rest
	}
	a.headline(w, c.TipID, rest)
	for _, m := range c.View.Window {
		if m.ID == c.Best.MessageID {
			a.snippet(w, c.Best)
			continue
		}
		line := fmt.Sprintf("  #%d %s: %s", m.ID, m.Role, transcript.Text(m.Content))
		_, _ = fmt.Fprintln(w, a.Paint(term.Dim, term.Cut(term.Line(line), a.Width)))
	}
}
