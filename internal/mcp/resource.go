package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

const (
	scheme   = "session:///"
	markdown = "text/markdown"
)

// addResources offers each conversation as Markdown.
func (t tools) addResources(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "session", Title: "A session as Markdown", MIMEType: markdown, URITemplate: scheme + "{session_id}{?cursor}",
		Description: "The messages of a session, by its id, from its beginning or on from a cursor. A long one comes in parts: each ends with the address of the next. Long texts are cut and say how session_read gives all of it.",
	}, t.readResource)
	s.AddReceivingMiddleware(t.listing)
}

// resourcePage is how many sessions a list of resources has at most.
const resourcePage = 50

// listing answers the list of resources: the SDK knows only those that it was told of.
func (t tools) listing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method != "resources/list" {
			return next(ctx, method, r)
		}
		p := listParams{Limit: resourcePage}
		if asked, _ := r.GetParams().(*sdk.ListResourcesParams); asked != nil {
			p.Cursor = asked.Cursor
		}
		found, err := t.list(ctx, p)
		if err != nil {
			return nil, unreadable(err)
		}
		out := &sdk.ListResourcesResult{Cacheable: sdk.Cacheable{CacheScope: private}, Resources: []*sdk.Resource{}, NextCursor: found.Next}
		for _, s := range found.Sessions {
			out.Resources = append(out.Resources, resourceOf(s))
		}
		return out, nil
	}
}

func resourceOf(s session) *sdk.Resource {
	title := s.Title
	if strings.TrimSpace(title) == "" {
		title = s.Preview
	}
	return &sdk.Resource{
		URI: resourceURI(s.ID), Name: s.ID, Title: title, MIMEType: markdown,
		Description: fmt.Sprintf("%s, %d messages, last active %s", s.Source, s.Messages, s.LastActive),
	}
}

func resourceURI(id string) string { return scheme + url.PathEscape(id) }

func (t tools) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	path, query, _ := strings.Cut(strings.TrimPrefix(uri, scheme), "?")
	id, err := url.PathUnescape(path)
	q, badQuery := url.ParseQuery(query)
	if err != nil || badQuery != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	s, err := t.session(ctx, id)
	if err != nil {
		return nil, unreadable(err)
	}
	text, err := t.markdown(ctx, s, q.Get("cursor"))
	if err != nil {
		return nil, unreadable(err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: text}}}, nil
}

// unreadable is why a resource can't be read, with a code of JSON-RPC: an error
// without one would have the code 0.
func unreadable(err error) error {
	code := int64(jsonrpc.CodeInternalError)
	if errors.Is(err, sessiondb.ErrNotFound) || errors.Is(err, sessiondb.ErrAmbiguous) || errors.Is(err, sessiondb.ErrInvalid) {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: advise(err).Error()}
}

// markdown is a part of a session, and where the next one is.
func (t tools) markdown(ctx context.Context, s sessiondb.Session, from string) (string, error) {
	last, err := place(byMessage, from)
	if err != nil {
		return "", err
	}
	ms, err := t.db.MessagesAfter(ctx, s.ID, last, maxRead+1)
	var b strings.Builder
	b.WriteString(transcript.Head(s))
	for i, m := range ms {
		text := passageOf(m)
		if i == maxRead || i > 0 && b.Len()+len(text) > budget {
			next := cursor(byMessage, last)
			fmt.Fprintf(&b, "\n---\n\nIt goes on: read %s?cursor=%s, or call session_read with session_id %q and cursor %q.\n",
				resourceURI(s.ID), url.QueryEscape(next), s.ID, next)
			break
		}
		b.WriteString(text)
		last = m.ID
	}
	return b.String(), err
}

// passageOf is a message as Markdown. A long text of it is cut, long calls are left out.
func passageOf(m sessiondb.Message) string {
	text := transcript.Text(m.Content)
	part, next := cut(text, 0, passage)
	long := len(m.ToolCalls) > passage
	if next == 0 && !long {
		return transcript.Message(m)
	}
	if next > 0 {
		m.Content = sessiondb.Text(part)
	}
	if long {
		m.ToolCalls = nil
	}
	rest := fmt.Sprintf("%d of %d characters are shown", utf8.RuneCountInString(part), utf8.RuneCountInString(text))
	if long {
		rest += ", and no tool call"
	}
	return transcript.Message(m) + fmt.Sprintf("\n_%s: session_read with message_id %d gives all of it._\n", rest, m.ID)
}
