package api

import (
	"context"
	"errors"

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

// The codes that JSON-RPC reserves.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// problems is the one table of errors, the first that fits decides. Codes of
// our own lie from -32000 to -32099 and never change.
var problems = []struct {
	is   error
	kind Kind
	code int
}{
	{context.Canceled, "cancelled", -32020},
	{context.DeadlineExceeded, "cancelled", -32020},
	{sessiondb.ErrAmbiguous, "ambiguous", -32002},
	{sessiondb.ErrExists, "exists", -32003},
	{sessiondb.ErrTitleTaken, "title_taken", -32004},
	{sessiondb.ErrReferenced, "referenced", -32006},
	{sessiondb.ErrTitleInvalid, "title_invalid", -32005},
	{sessiondb.ErrBusy, "busy", -32010},
	{sessiondb.ErrFull, "full", -32011},
	{sessiondb.ErrReplaced, "replaced", -32012},
	{sessiondb.ErrSchemaNewer, "schema_newer", -32013},
	{sessiondb.ErrReadOnly, "read_only", -32014},
	{sessiondb.ErrCorrupt, "corrupt", -32015},
	{sessiondb.ErrNotStore, "not_store", -32016},
	{sessiondb.ErrClosed, "closed", -32017},
	{sessiondb.ErrInvalid, "invalid", CodeInvalidParams},
	{sessiondb.ErrNotFound, "not_found", -32001},
}

// Explain turns an error of a call into what a face reports. What it does not
// know is of kind "internal".
func Explain(err error) Problem {
	if e, ok := errors.AsType[*ParamError](err); ok {
		p := Problem{Kind: "invalid", Code: CodeInvalidParams, Message: e.Error()}
		if e.Param != "" {
			p.Data = map[string]any{"param": e.Param}
		}
		return p
	}
	for _, p := range problems {
		if errors.Is(err, p.is) {
			return Problem{Kind: p.kind, Code: p.code, Message: err.Error(), Data: details(err)}
		}
	}
	return Problem{Kind: "internal", Code: CodeInternal, Message: err.Error()}
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
