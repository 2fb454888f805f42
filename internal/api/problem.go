package api

import (
	"context"
	"errors"
	"slices"

	"github.com/sessiondb-go/sessiondb"
)

// Kind is the stable name of what went wrong, for programs.
type Kind string

// Problem is an error as a face reports it.
type Problem struct {
	Kind    Kind
	Code    int // of JSON-RPC
	Message string
	Data    map[string]any // what a caller can act on: candidates, holder, ...; may be nil
}

// KindInfo describes a kind of error.
type KindInfo struct {
	Kind Kind
	Code int
	When string // half a sentence

	is error // what a call returned
}

// kinds is the one table of errors: of those that fit, the first decides. Codes
// of our own lie from -32000 to -32099 and never change.
var kinds = []KindInfo{
	{"parse", -32700, "the line is not JSON", nil},
	{"invalid_request", -32600, "the line is JSON, but no request, or too long (`limit`)", nil},
	{"unknown_method", -32601, "there is no such method", nil},
	{"invalid", -32602, "a parameter (`param`) is missing, unknown or can't be used", sessiondb.ErrInvalid},
	{"ambiguous", -32002, "the beginning of an id (`ref`) fits several sessions (`candidates`)", sessiondb.ErrAmbiguous},
	{"exists", -32003, "a session of that id exists with other values (`fields`)", sessiondb.ErrExists},
	{"title_taken", -32004, "another session (`holder`) has the title", sessiondb.ErrTitleTaken},
	{"title_invalid", -32005, "the title has more than 100 characters", sessiondb.ErrTitleInvalid},
	{"referenced", -32006, "rows that another program keeps in the file point at what was to be deleted; nothing was deleted", sessiondb.ErrReferenced},
	{"not_found", -32001, "there is no such session, or parent", sessiondb.ErrNotFound},
	{"busy", -32010, "other programs wrote for as long as the retries last (`attempts`, `waited_seconds`); nothing was written", sessiondb.ErrBusy},
	{"full", -32011, "the disk is full; nothing was written", sessiondb.ErrFull},
	{"uncertain", -32019, "the connection was lost in the commit: what was to be written is there whole or not at all; a call with an `idempotency_key` can be made again", sessiondb.ErrUncertain},
	{"io", -32018, "the system could not open, read, write or lock the file", sessiondb.ErrIO},
	{"replaced", -32012, "another file took the place of the database; nothing was written", sessiondb.ErrReplaced},
	{"schema_newer", -32013, "a newer program owns the file (`have`, `want`): it can be read, not written", sessiondb.ErrSchemaNewer},
	{"read_only", -32014, "the file can only be read", sessiondb.ErrReadOnly},
	{"corrupt", -32015, "pages of the file are damaged", sessiondb.ErrCorrupt},
	{"not_store", -32016, "the file is no session store", sessiondb.ErrNotStore},
	{"closed", -32017, "the store was closed", sessiondb.ErrClosed},
	{"cancelled", -32020, "the program is ending, or the call took too long", context.Canceled},
	{internal, -32603, "anything else", nil},
}

const internal = "internal"

// Kinds returns all kinds of errors.
func Kinds() []KindInfo { return slices.Clone(kinds) }

// NewProblem is an error that a face itself has to report.
func NewProblem(kind Kind, message string) Problem {
	i := slices.IndexFunc(kinds, func(k KindInfo) bool { return k.Kind == kind })
	return Problem{Kind: kind, Code: kinds[i].Code, Message: message}
}

// Explain turns an error of a call into what a face reports. What it does not
// know is of kind "internal".
func Explain(err error) Problem {
	if e, ok := errors.AsType[*ParamError](err); ok {
		p := NewProblem("invalid", e.Error())
		if e.Param != "" {
			p.Data = map[string]any{"param": e.Param}
		}
		return p
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return NewProblem("cancelled", err.Error())
	}
	for _, k := range kinds {
		if errors.Is(err, k.is) {
			return Problem{Kind: k.Kind, Code: k.Code, Message: err.Error(), Data: details(err)}
		}
	}
	return NewProblem(internal, err.Error())
}

// details are the data that typed errors carry.
func details(err error) map[string]any {
	if e, ok := errors.AsType[*sessiondb.AmbiguousError](err); ok {
		return map[string]any{"ref": e.Ref, "candidates": e.Candidates}
	}
	if e, ok := errors.AsType[*sessiondb.TitleTakenError](err); ok {
		return map[string]any{"title": e.Title, "holder": e.Holder}
	}
	if e, ok := errors.AsType[*sessiondb.ExistsError](err); ok {
		return map[string]any{"session_id": e.ID, "fields": e.Fields}
	}
	if e, ok := errors.AsType[*sessiondb.BusyError](err); ok {
		return map[string]any{"attempts": e.Attempts, "waited_seconds": e.Waited.Seconds()}
	}
	if e, ok := errors.AsType[*sessiondb.SchemaError](err); ok {
		return map[string]any{"have": e.Have, "want": e.Want}
	}
	return nil
}
