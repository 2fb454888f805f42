package api

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/sessiondb-go/sessiondb"
)

var exportMethods = []*Method{
	method(ReadsSession, "export_session", "Returns a session and its messages.", "the columns of the session, and messages",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.ExportSession(ctx, p.SessionID))
		}),
	method(ReadsStore, "export_all",
		"Returns sessions with their messages, from one snapshot; the answer is one object, so a large store is better exported on the command line.",
		"a list of what export_session returns, each with last_active; most recent activity first", exportAll),
	method(WritesStore, "import_sessions", "Stores sessions as export_session returned them; those that exist are left alone.",
		"imported, messages, and what was skipped, failed or changed", importSessions),
}

type exportParams struct {
	Source string   `json:"source" doc:"only sessions of this source"`
	IDs    []string `json:"session_ids" doc:"only these sessions"`
}

// exportAll makes a list of the lines of an export, in the order of
// search_sessions and with its last_active.
func exportAll(ctx context.Context, db *sessiondb.DB, p exportParams) (any, error) {
	var lines bytes.Buffer
	if _, err := db.ExportAll(ctx, &lines, sessiondb.ExportFilter{Source: p.Source, IDs: p.IDs}); err != nil {
		return nil, err
	}
	recent, err := db.RecentSessions(ctx, p.Source, -1, 0)
	if err != nil {
		return nil, err
	}
	return byActivity(lines.Bytes(), recent)
}

// byActivity puts lines in the order of the sessions. A session that is not
// among them, as one that was deleted since the export, comes last.
func byActivity(lines []byte, recent []sessiondb.ListedSession) ([]json.RawMessage, error) {
	rank := make(map[string]int, len(recent))
	for i, s := range recent {
		rank[s.ID] = i
	}
	out := make([]json.RawMessage, len(recent), len(recent)+1)
	for line := range bytes.Lines(lines) {
		var s struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		i, ok := rank[s.ID]
		if !ok {
			out = append(out, line)
			continue
		}
		var err error
		if out[i], err = withActivity(line, recent[i]); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(line json.RawMessage) bool { return line == nil }), nil
}

// withActivity adds the last_active of a session to its line.
func withActivity(line []byte, s sessiondb.ListedSession) (json.RawMessage, error) {
	row, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var v struct {
		LastActive json.RawMessage `json:"last_active"`
	}
	if err := json.Unmarshal(row, &v); err != nil {
		return nil, err
	}
	b := append(slices.Clip(line[:len(line)-1]), `,"last_active":`...)
	return append(append(b, v.LastActive...), '}'), nil
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
