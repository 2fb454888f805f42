// Package api is the table of methods that every face offers: names,
// parameters, results and errors as they are documented, over a
// *sessiondb.DB. It knows JSON, and no transport: internal/rpc, a web server or
// a tool server look methods up here, hand over parameters and encode what
// comes back. It holds no rules and no SQL of its own.
package api

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/sessiondb-go/sessiondb"
)

// Access tells what a call touches, so that a face knows which calls may run at
// the same time.
type Access int

// What a call can touch. A session is one that the parameters name.
const (
	Nothing       Access = iota // computes from its parameters alone
	ReadsSession                // reads the named sessions only
	WritesSession               // changes the named sessions only
	ReadsStore                  // reads any session
	MakesFile                   // the same, into a file that a parameter names
	WritesStore                 // may change any session, or what holds across sessions
)

// Writes reports whether a call of this kind changes the store.
func (a Access) Writes() bool { return a == WritesSession || a == WritesStore }

// ReadsAll reports whether a call of this kind may read any session.
func (a Access) ReadsAll() bool { return a == ReadsStore || a == MakesFile }

// Method is a documented operation.
type Method struct {
	Name   string
	Doc    string         // one sentence
	Params func() []Param // in order; made when it is first asked for
	Result string         // what comes back
	Access Access

	bind func(*Method, json.RawMessage) (*Call, error)
}

// Bind decodes parameters: an object of them by name, a list of them in order,
// or nothing. An unknown, missing or unusable one is a [*ParamError].
func (m *Method) Bind(params json.RawMessage) (*Call, error) { return m.bind(m, params) }

// Call is a method with its parameters.
type Call struct {
	Method *Method
	// Sessions are the ids of the sessions that the parameters name.
	Sessions []string

	do func(context.Context, *sessiondb.DB) (any, error)
}

// Do runs the call. The result encodes as JSON with the documented keys.
func (c *Call) Do(ctx context.Context, db *sessiondb.DB) (any, error) { return c.do(ctx, db) }

// Methods are all methods, in the order they are documented.
var Methods = slices.Concat(sessionMethods, messageMethods, titleMethods, lineageMethods, listMethods,
	searchMethods, exportMethods, pruneMethods, trashMethods, tagMethods, usageMethods, storeMethods)

var byName = func() map[string]*Method {
	m := make(map[string]*Method, len(Methods))
	for _, method := range Methods {
		m[method.Name] = method
	}
	return m
}()

// Lookup returns the method of a name; ok is false when there is none.
func Lookup(name string) (m *Method, ok bool) {
	m, ok = byName[name]
	return m, ok
}

// method makes a method whose parameters are the fields of P; see decode.go for
// their tags.
func method[P any](access Access, name, doc, result string, do func(context.Context, *sessiondb.DB, P) (any, error)) *Method {
	fields := sync.OnceValue(fieldsOf[P])
	bind := func(m *Method, params json.RawMessage) (*Call, error) {
		var p P
		if err := decode(params, fields(), &p); err != nil {
			return nil, err
		}
		c := &Call{Method: m, do: func(ctx context.Context, db *sessiondb.DB) (any, error) { return do(ctx, db, p) }}
		if n, ok := any(p).(interface{ sessions() []string }); ok {
			c.Sessions = n.sessions()
		}
		return c, nil
	}
	return &Method{Name: name, Doc: doc, Params: func() []Param { return describe(fields()) }, Result: result, Access: access, bind: bind}
}

// none is the parameters of a method that has none.
type none struct{}

// ofSession is the parameter that names a session.
type ofSession struct {
	SessionID string `json:"session_id" also:"id" need:"true" doc:"id of the session"`
}

func (p ofSession) sessions() []string { return []string{p.SessionID} }

// list gives an empty list where there is nothing: null is no list.
func list[T any](out []T, err error) (any, error) {
	if out == nil {
		out = []T{}
	}
	return out, err
}

// result makes any answer one of a method.
func result[T any](out T, err error) (any, error) { return out, err }

// done is the answer of a method that has nothing to say but that it did it.
func done(err error) (any, error) { return nil, err }
