package api

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/redact"
)

var exportMethods = []*Method{
	method(ReadsSession, "export_session", "Returns a session and its messages.", "the columns of the session, and messages; with redact also redacted: how much was masked, by rule",
		exportSession),
	method(ReadsStore, "export_all",
		"Returns sessions with their messages, from one snapshot; the answer is one object, so a large store is better exported on the command line.",
		"a list of what export_session returns, each with last_active; most recent activity first", exportAll),
	method(WritesStore, "import_sessions", "Stores sessions as export_session returned them; those that exist are left alone.",
		"imported, extended, same, messages, and what conflicts, failed, changed or is odd", importSessions),
}

type exportSessionParams struct {
	ofSession
	Redact bool `json:"redact" default:"false" doc:"mask what looks like an API key, a token or a password"`
}

func exportSession(ctx context.Context, db *sessiondb.DB, p exportSessionParams) (any, error) {
	if !p.Redact {
		return result(db.ExportSession(ctx, p.SessionID))
	}
	line, err := exportRedacted(ctx, db, sessiondb.ExportFilter{IDs: []string{p.SessionID}})
	return result(json.RawMessage(line), err)
}

type exportParams struct {
	Source string   `json:"source" doc:"only sessions of this source"`
	IDs    []string `json:"session_ids" doc:"only these sessions"`
	Redact bool     `json:"redact" default:"false" doc:"mask what looks like an API key, a token or a password"`
}

// exportAll makes a list of the lines of an export, in the order of
// search_sessions and with its last_active.
func exportAll(ctx context.Context, db *sessiondb.DB, p exportParams) (any, error) {
	export := exportLines
	if p.Redact {
		export = exportRedacted
	}
	lines, err := export(ctx, db, sessiondb.ExportFilter{Source: p.Source, IDs: p.IDs})
	if err != nil {
		return nil, err
	}
	recent, err := db.RecentSessions(ctx, p.Source, -1, 0)
	if err != nil {
		return nil, err
	}
	return byActivity(lines, recent)
}

func exportLines(ctx context.Context, db *sessiondb.DB, f sessiondb.ExportFilter) ([]byte, error) {
	var lines bytes.Buffer
	_, err := db.ExportAll(ctx, &lines, f)
	return lines.Bytes(), err
}

// exportRedacted exports masked sessions, each with what was masked in it.
func exportRedacted(ctx context.Context, db *sessiondb.DB, f sessiondb.ExportFilter) ([]byte, error) {
	r := redact.New()
	f.Redact = r.Session
	var masked []map[string]int64
	f.Progress = func(int64, int64) {
		byRule := map[string]int64{}
		for _, c := range r.Counts() {
			byRule[c.Rule] = c.Count
		}
		r.Reset()
		masked = append(masked, byRule)
	}
	lines, err := exportLines(ctx, db, f)
	if err != nil {
		return nil, err
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		with, err := withMember(bytes.TrimSuffix(line, []byte{'\n'}), "redacted", masked[0])
		if err != nil {
			return nil, err
		}
		masked = masked[1:]
		out = append(append(out, with...), '\n')
	}
	return out, nil
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
	return withMember(line, "last_active", v.LastActive)
}

// withMember adds a member to an object that has some.
func withMember(object []byte, name string, value any) (json.RawMessage, error) {
	v, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	b := append(slices.Clip(object[:len(object)-1]), `,"`+name+`":`...)
	return append(append(b, v...), '}'), nil
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
