package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

// response is a JSON-RPC response, either a result or an error.
type response struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *responseError
}

type responseError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"` // kind, and what belongs to it
}

var null = json.RawMessage("null")

func failure(id json.RawMessage, p api.Problem) *response {
	data := map[string]any{"kind": p.Kind}
	maps.Copy(data, p.Data)
	return &response{ID: id, Error: &responseError{Code: p.Code, Message: p.Message, Data: data}}
}

// handleLine starts what a line asks for. It returns once every call of it has
// its place in the queue.
func (s *server) handleLine(ctx context.Context, text []byte, err error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, mark))
	switch {
	case errors.Is(err, errTooLong):
		limit := s.options.MaxLine
		p := api.NewProblem("invalid_request", fmt.Sprintf("line is longer than %d bytes; it was passed over", limit))
		p.Data = map[string]any{"limit": limit}
		s.write(failure(null, p))
	case len(text) == 0:
	case !json.Valid(text):
		s.write(failure(null, api.NewProblem("parse", "line is not JSON")))
	case text[0] == '[':
		s.handleBatch(ctx, text)
	default:
		s.lines.Add(1)
		s.start(ctx, text, func(r *response) {
			defer s.lines.Done()
			if r != nil {
				s.write(r)
			}
		})
	}
}

// mark is what some programs on Windows write before the first line.
var mark = []byte("\ufeff")

// maxBatch is how many requests one line may hold: all their answers are kept
// until the last is there.
const maxBatch = 10_000

// handleBatch answers the requests of a list with one list. A list of nothing
// but notifications is not answered.
func (s *server) handleBatch(ctx context.Context, text []byte) {
	var requests []json.RawMessage
	switch err := json.Unmarshal(text, &requests); {
	case err != nil || len(requests) == 0:
		s.write(failure(null, invalidRequest("a batch holds at least one request")))
		return
	case len(requests) > maxBatch:
		s.write(failure(null, invalidRequest(fmt.Sprintf("a batch holds at most %d requests", maxBatch))))
		return
	}
	responses := make([]*response, len(requests))
	var open sync.WaitGroup
	open.Add(len(requests))
	for i, r := range requests {
		s.start(ctx, r, func(r *response) {
			responses[i] = r
			open.Done()
		})
	}
	s.lines.Go(func() {
		open.Wait()
		if b := encodeBatch(responses); b != nil {
			s.out.writeLine(b)
		}
	})
}

func encodeBatch(responses []*response) []byte {
	var b []byte
	for _, r := range responses {
		if r == nil {
			continue
		}
		b = append(append(b, ','), encode(r)...)
	}
	if b == nil {
		return nil
	}
	b[0] = '['
	return append(b, ']')
}

func (s *server) write(r *response) { s.out.writeLine(encode(r)) }

// encode renders a response. Its id and result are JSON already, and a result
// may be large: it is not looked at again.
func encode(r *response) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), r.ID...)
	if r.Error == nil {
		b = append(append(b, `,"result":`...), r.Result...)
		return append(b, '}')
	}
	e, err := encodeJSON(r.Error)
	if err != nil { // its data are numbers, texts and lists of texts
		panic(err)
	}
	return append(append(append(b, `,"error":`...), e...), '}')
}

// encodeJSON is json.Marshal with text as it is, not escaped for HTML.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

func invalidRequest(why string) api.Problem { return api.NewProblem("invalid_request", why) }

func internalProblem() api.Problem { return api.NewProblem("internal", "internal error") }

// start gives a request its place in the queue; answer is called once, with
// nil for a notification.
func (s *server) start(ctx context.Context, text json.RawMessage, answer func(*response)) {
	r, problem := parseRequest(text)
	reply := func(resp *response) {
		if r.ID == nil && problem == nil {
			resp = nil
		}
		answer(resp)
	}
	if problem != nil {
		reply(failure(r.idOrNull(), *problem))
		return
	}
	if r.Method == discoverName {
		reply(s.respond(r.ID, discovery()))
		return
	}
	m, ok := api.Lookup(r.Method)
	if !ok {
		reply(failure(r.ID, api.NewProblem("unknown_method", fmt.Sprintf("there is no method %q; %s lists them", r.Method, discoverName))))
		return
	}
	call, err := m.Bind(r.Params)
	if err != nil {
		reply(failure(r.ID, api.Explain(err)))
		return
	}
	s.queue.run(&ticket{access: m.Access, sessions: call.Sessions}, func() { reply(s.call(ctx, r.ID, call)) })
}

// call runs a method. A panic in it costs that call alone.
func (s *server) call(ctx context.Context, id json.RawMessage, c *api.Call) (r *response) {
	defer func() {
		if p := recover(); p != nil {
			s.options.Logger.Error("panic in a method", "method", c.Method.Name, "panic", p, "stack", string(debug.Stack()))
			r = failure(id, internalProblem())
		}
	}()
	if err := ctx.Err(); err != nil {
		return failure(id, api.Explain(err))
	}
	result, err := c.Do(ctx, s.db)
	if err != nil {
		return failure(id, api.Explain(err))
	}
	return s.respond(id, result)
}

func (s *server) respond(id json.RawMessage, result any) *response {
	b, err := encodeJSON(result)
	if err != nil {
		s.options.Logger.Error("a result can't be encoded", "error", err)
		return failure(id, internalProblem())
	}
	return &response{ID: id, Result: b}
}

// request is a JSON-RPC request. Without an id it is a notification.
type request struct {
	Method     string
	ID, Params json.RawMessage
}

func (r *request) idOrNull() json.RawMessage {
	if r.ID == nil {
		return null
	}
	return r.ID
}

// parseRequest reads a request as far as it is one.
func parseRequest(text json.RawMessage) (r request, problem *api.Problem) {
	bad := func(why string) (request, *api.Problem) {
		p := invalidRequest(why)
		return r, &p
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return bad("a request is a JSON object")
	}
	if id, ok := members["id"]; ok {
		if id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f' {
			return bad("an id is a string or a number")
		}
		r.ID = bytes.ToValidUTF8(id, []byte("\uFFFD"))
	}
	var version string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return bad(`a request has "jsonrpc": "2.0"`)
	}
	var method *string
	if json.Unmarshal(members["method"], &method) != nil || method == nil {
		return bad("a request has a method, a string")
	}
	r.Method, r.Params = *method, members["params"]
	return r, nil
}
