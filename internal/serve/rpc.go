package serve

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
)

// maxBody is as long as a line of 'sessiondb rpc' may be.
const maxBody = 64 << 20

// rpc calls a method. The body is its parameters, the answer its result.
func (s *server) rpc(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	m, ok := api.Lookup(name)
	if !ok {
		s.writeProblem(w, api.NewProblem("unknown_method", fmt.Sprintf("there is no method %q; /openapi.json lists them", name)))
		return
	}
	if m.Access == api.MakesFile && s.readOnly() {
		s.writeProblem(w, api.Explain(fmt.Errorf("%w: it makes no files either", sessiondb.ErrReadOnly)))
		return
	}
	params, ok := s.body(w, r)
	if !ok {
		return
	}
	call, err := m.Bind(params)
	if err != nil {
		s.writeProblem(w, api.Explain(err))
		return
	}
	begun := time.Now()
	result, err := call.Do(r.Context(), s.db)
	s.meter.called(name, begun, m.Access.Writes(), err)
	if err != nil {
		s.writeProblem(w, api.Explain(err))
		return
	}
	s.writeJSON(w, http.StatusOK, result)
}

// body reads parameters. An empty body is none. Anything but JSON is refused:
// that is all that a form of another site could send.
func (s *server) body(w http.ResponseWriter, r *http.Request) (params []byte, ok bool) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	params, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody))
	_ = rc.SetReadDeadline(time.Time{})
	tooLong := new(http.MaxBytesError)
	switch {
	case errors.As(err, &tooLong):
		p := api.NewProblem("invalid_request", fmt.Sprintf("the parameters are longer than %d bytes", tooLong.Limit))
		p.Data = map[string]any{"limit": tooLong.Limit}
		s.writeProblemAs(w, http.StatusRequestEntityTooLarge, p)
		return nil, false
	case err != nil:
		s.writeProblem(w, api.NewProblem("invalid_request", "the parameters did not come whole"))
		return nil, false
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); len(params) > 0 && kind != "application/json" {
		s.writeProblemAs(w, http.StatusUnsupportedMediaType, api.NewProblem("invalid_request", "parameters are sent with 'Content-Type: application/json'"))
		return nil, false
	}
	return params, true
}
