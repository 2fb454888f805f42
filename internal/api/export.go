package api

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/sessiondb-go/sessiondb"
)

var exportMethods = []*Method{
	method(ReadsSession, "export_session", "Returns a session and its messages.", "the columns of the session, and messages",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.ExportSession(ctx, p.SessionID))
		}),
	method(ReadsStore, "export_all",
		"Returns sessions with their messages, from one snapshot; the answer is one object, so a large store is better exported on the command line.",
		"a list of what export_session returns", exportAll),
	method(WritesStore, "import_sessions", "Stores sessions as export_session returned them; those that exist are left alone.",
		"imported, messages, and what was skipped, failed or changed", importSessions),
}

type exportParams struct {
	Source string   `json:"source" doc:"only sessions of this source"`
	IDs    []string `json:"session_ids" doc:"only these sessions"`
}

// exportAll makes a list of the lines of an export.
func exportAll(ctx context.Context, db *sessiondb.DB, p exportParams) (any, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	lines := &joiner{b: &b}
	if _, err := db.ExportAll(ctx, lines, sessiondb.ExportFilter{Source: p.Source, IDs: p.IDs}); err != nil {
		return nil, err
	}
	b.WriteByte(']')
	return json.RawMessage(b.Bytes()), nil
}

// joiner puts commas in the place of the line breaks between JSON lines. A line
// break never stands inside one.
type joiner struct {
	b       *bytes.Buffer
	pending bool // a line has ended
}

func (j *joiner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if j.pending {
			j.b.WriteByte(',')
		}
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		j.b.Write(line)
		j.pending, p = ended, rest
	}
	return n, nil
}

type importParams struct {
	Sessions []json.RawMessage `json:"sessions" need:"true" doc:"as export_session returned them"`
	DryRun   bool              `json:"dry_run" default:"false" doc:"report what would happen and store nothing"`
}

func importSessions(ctx context.Context, db *sessiondb.DB, p importParams) (any, error) {
	var lines bytes.Buffer
	for _, s := range p.Sessions {
		if err := json.Compact(&lines, s); err != nil {
			return nil, &ParamError{"sessions", brief(err)}
		}
		lines.WriteByte('\n')
	}
	return result(db.Import(ctx, &lines, sessiondb.ImportOptions{DryRun: p.DryRun}))
}
