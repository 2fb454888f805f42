package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

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
		Name: "session", Title: "A session as Markdown", MIMEType: markdown, URITemplate: scheme + "{session_id}",
		Description: "The messages of a session, by its id. A long one ends with a note of where session_read goes on.",
	}, t.readResource)
}

// The most that a resource holds.
const (
	resourceBytes    = 1 << 20
	resourceMessages = 200 // read at once
)

func (t tools) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	id, err := url.PathUnescape(strings.TrimPrefix(uri, scheme))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	s, err := t.session(ctx, id)
	if err != nil {
		return nil, unreadable(err)
	}
	text, err := t.markdown(ctx, s.ID, transcript.Head(s))
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

func (t tools) markdown(ctx context.Context, id, head string) (string, error) {
	var b strings.Builder
	b.WriteString(head)
	for last := int64(0); ; {
		ms, err := t.db.MessagesAfter(ctx, id, last, resourceMessages)
		if err != nil || len(ms) == 0 {
			return b.String(), err
		}
		for _, m := range ms {
			text := transcript.Message(m)
			if b.Len()+len(text) > resourceBytes {
				fmt.Fprintf(&b, "\n---\n\nIt goes on: session_read with session_id %q and cursor %q.\n", id, cursor(byMessage, last))
				return b.String(), nil
			}
			b.WriteString(text)
			last = m.ID
		}
	}
}
