package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

const searchDoc = `Recalls old conversations, in one of three ways:
- query: finds conversations by what was said in them. One entry a conversation, best first: the best hit with its snippet (matches between >>> and <<<), the messages around it, and how the conversation began and ended. All words must match; "exact phrase", OR, NOT, prefix* work in any language; nothing typed is an error. Filters: source:telegram role:user after:2026-01-31 before:7d title:word tool:name tag:word.
- session_id and message_id: shows the messages around one. To scroll, call again with the first or last message_id of the answer.
- nothing: the conversations with the latest activity.`

type searchParams struct {
	Query          string   `json:"query,omitempty" jsonschema:"what to look for"`
	SessionID      string   `json:"session_id,omitempty" jsonschema:"with message_id: the session to look into"`
	MessageID      int64    `json:"message_id,omitempty" jsonschema:"with session_id: the message to show the surroundings of"`
	Window         int      `json:"window,omitempty" jsonschema:"with message_id: how many messages before and after" range:"1 20" default:"5"`
	Sources        []string `json:"sources,omitempty" jsonschema:"only conversations of these sources"`
	ExcludeSources []string `json:"exclude_sources,omitempty" jsonschema:"no conversations of these sources, such as cron"`
	Tag            string   `json:"tag,omitempty" jsonschema:"only conversations with this tag; several, with spaces between, all have to be on them"`
	Current        string   `json:"current_session_id,omitempty" jsonschema:"the session you are in, by its id, the beginning of one, or a title: its conversation is left out"`
	Sort           string   `json:"sort,omitempty" jsonschema:"best first if absent" oneof:"newest oldest"`
	Limit          int      `json:"limit,omitempty" jsonschema:"at most so many conversations; 3 if absent, 10 without a query" range:"1 10"`
	Cursor         string   `json:"cursor,omitempty" jsonschema:"next_cursor of the answer before"`
}

// searchResult is one of three: hits, a window, or recent sessions.
type searchResult struct {
	Hits     []conversation `json:"conversations,omitempty"`
	Total    *int64         `json:"total_hits,omitempty" jsonschema:"how many messages match in all"`
	Read     string         `json:"understood,omitempty" jsonschema:"how the query was read"`
	Notices  []string       `json:"notices,omitempty"`
	Try      []suggestion   `json:"try_instead,omitempty" jsonschema:"what would find something"`
	Window   *window        `json:"window,omitempty"`
	Sessions []session      `json:"sessions,omitempty"`
	Next     string         `json:"next_cursor,omitempty" jsonschema:"there are more; give it back as cursor"`
}

type suggestion = sessiondb.SearchSuggestion

type conversation struct {
	SessionID string    `json:"session_id"`
	MessageID int64     `json:"message_id" jsonschema:"the best hit"`
	Resume    string    `json:"resume_session_id" jsonschema:"the live end of the conversation"`
	Title     string    `json:"title,omitempty"`
	Source    string    `json:"source"`
	Tags      []string  `json:"tags,omitempty"`
	Model     string    `json:"model,omitempty"`
	Started   string    `json:"started,omitempty"`
	Role      string    `json:"role"`
	Time      string    `json:"time,omitempty"`
	Snippet   string    `json:"snippet"`
	Hits      int64     `json:"hits" jsonschema:"how many of its messages match"`
	Begins    []message `json:"begins,omitempty"`
	Around    []message `json:"around"`
	Ends      []message `json:"ends,omitempty"`
}

type window struct {
	Session  session   `json:"session"`
	Messages []message `json:"messages"`
	Before   bool      `json:"more_before" jsonschema:"there are earlier messages"`
	After    bool      `json:"more_after" jsonschema:"there are later messages"`
}

// What to give instead of what does not go together.
var (
	errBoth      = errors.New("both query and message_id: give query to search, or session_id and message_id to see the messages around one")
	errNoSession = errors.New("message_id alone does not say where to look: give session_id too, which stands beside it in every answer")
	errNoMessage = errors.New("session_id alone: give query too, to search in that session, or message_id, to see the messages around one; session_read reads a session from its beginning")
)

func (t tools) search(ctx context.Context, p searchParams) (searchResult, error) {
	switch {
	case p.Query != "" && p.MessageID != 0:
		return searchResult{}, errBoth
	case p.MessageID != 0 && p.SessionID == "":
		return searchResult{}, errNoSession
	case p.MessageID != 0:
		return t.around(ctx, p)
	case p.Query == "" && p.SessionID != "":
		return searchResult{}, errNoMessage
	case p.Query == "":
		return t.recent(ctx, p)
	}
	if f, ok := sessiondb.ListQuery(p.Query); ok && p.SessionID == "" {
		p.Tag += " " + strings.Join(f.Tags, " ")
		p.ExcludeSources = append(p.ExcludeSources, f.ExcludeSources...)
		if f.Source != "" && !slices.Contains(p.Sources, f.Source) {
			p.Sources = append(p.Sources, f.Source)
		}
		return t.recent(ctx, p)
	}
	return t.find(ctx, p)
}

func (t tools) find(ctx context.Context, p searchParams) (searchResult, error) {
	offset, err := offset(p.Cursor)
	if err != nil {
		return searchResult{}, err
	}
	limit := cmp.Or(p.Limit, 3)
	q := sessiondb.SearchQuery{
		Text: p.Query, Tags: sessiondb.SplitTags(p.Tag), Sources: p.Sources, ExcludeSources: p.ExcludeSources, Sort: sessiondb.SearchSort(p.Sort),
		Limit: limit + 1, Offset: offset, CountTotal: true,
	}
	if p.SessionID != "" {
		s, err := t.session(ctx, p.SessionID)
		if err != nil {
			return searchResult{}, err
		}
		q.Sessions = []string{s.ID}
	}
	own, notices, err := t.current(ctx, p.Current)
	if err != nil {
		return searchResult{}, err
	}
	if own != "" {
		q.ExcludeSessions = []string{own}
	}
	found, err := t.db.SearchGrouped(ctx, q)
	out := searchResult{Total: found.Total, Read: found.Understood, Notices: append(notices, found.Notices...), Try: found.Suggestions}
	var hits []sessiondb.ConversationHit
	hits, out.Next = next(found.Conversations, limit, offset)
	for _, h := range hits {
		out.Hits = append(out.Hits, conversationOf(h))
	}
	return out, err
}

func conversationOf(h sessiondb.ConversationHit) conversation {
	b := h.Best
	out := conversation{
		SessionID: b.SessionID, MessageID: b.MessageID, Resume: h.TipID, Title: deref(h.Title), Source: b.Source, Tags: shownTags(h.Tags), Model: deref(b.Model),
		Started: stamp(b.SessionStarted), Role: b.Role, Time: stamp(b.Timestamp), Snippet: strings.TrimSpace(b.Snippet), Hits: h.Hits,
		Begins: shortenAll(h.View.BookendStart, glimpse), Around: shortenAll(h.View.Window, glimpse), Ends: shortenAll(h.View.BookendEnd, glimpse),
	}
	mark(out.Around, b.MessageID)
	return out
}

func mark(ms []message, id int64) {
	for i := range ms {
		ms[i].Hit = ms[i].ID == id
	}
}

func (t tools) around(ctx context.Context, p searchParams) (searchResult, error) {
	s, err := t.session(ctx, p.SessionID)
	if err != nil {
		return searchResult{}, err
	}
	found, err := t.db.MessagesAround(ctx, s.ID, p.MessageID, p.Window+1) // one more tells whether there are more
	if err == nil && len(found.Window) == 0 {
		err = fmt.Errorf("message %d is not in session %s: %w", p.MessageID, s.ID, sessiondb.ErrNotFound)
	}
	if err != nil {
		return searchResult{}, err
	}
	about, err := t.described(ctx, s)
	if err != nil {
		return searchResult{}, err
	}
	w := window{Session: about, Before: found.MessagesBefore > p.Window, After: found.MessagesAfter > p.Window}
	ms := found.Window
	if w.Before {
		ms = ms[1:]
	}
	if w.After {
		ms = ms[:len(ms)-1]
	}
	w.Messages = shortenAll(ms, passage/4)
	mark(w.Messages, p.MessageID)
	return searchResult{Window: &w}, nil
}

func (t tools) recent(ctx context.Context, p searchParams) (searchResult, error) {
	if len(p.Sources) > 1 {
		return searchResult{}, fmt.Errorf("recent conversations of several sources: name one source, or exclude others: %w", sessiondb.ErrInvalid)
	}
	l := listParams{ExcludeSources: p.ExcludeSources, Tag: p.Tag, Limit: cmp.Or(p.Limit, 10), Cursor: p.Cursor}
	if len(p.Sources) == 1 {
		l.Source = p.Sources[0]
	}
	own, notices, err := t.current(ctx, p.Current)
	if err != nil {
		return searchResult{}, err
	}
	if own, err = t.db.CompressionTip(ctx, own); err != nil { // a list shows it as this
		return searchResult{}, err
	}
	found, err := t.list(ctx, l)
	out := searchResult{Sessions: []session{}, Notices: notices, Next: found.Next}
	for _, s := range found.Sessions {
		if s.ID != own {
			out.Sessions = append(out.Sessions, s)
		}
	}
	return out, err
}

// current finds the session whose conversation to leave out. That there is none
// is no error: what was found is worth having all the same.
func (t tools) current(ctx context.Context, ref string) (id string, notices []string, err error) {
	if ref == "" {
		return "", nil, nil
	}
	s, err := t.session(ctx, ref)
	if errors.Is(err, sessiondb.ErrNotFound) || errors.Is(err, sessiondb.ErrAmbiguous) {
		return "", []string{fmt.Sprintf("current_session_id: %v; no conversation was left out", err)}, nil
	}
	return s.ID, nil, err
}
