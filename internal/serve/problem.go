package serve

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

// statuses says which status a kind of error has. A kind that is not listed is a
// failure of the server.
var statuses = map[api.Kind]int{
	"parse":           http.StatusBadRequest,
	"invalid_request": http.StatusBadRequest,
	"unknown_method":  http.StatusNotFound,
	"invalid":         http.StatusBadRequest,
	"ambiguous":       http.StatusConflict,
	"exists":          http.StatusConflict,
	"title_taken":     http.StatusConflict,
	"title_invalid":   http.StatusBadRequest,
	"referenced":      http.StatusConflict,
	"not_found":       http.StatusNotFound,
	"busy":            http.StatusServiceUnavailable,
	"full":            http.StatusInsufficientStorage,
	"replaced":        http.StatusServiceUnavailable,
	"schema_newer":    http.StatusForbidden,
	"read_only":       http.StatusForbidden,
	"closed":          http.StatusServiceUnavailable,
	"cancelled":       http.StatusServiceUnavailable,
}

func statusOf(k api.Kind) int {
	if status, ok := statuses[k]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// problemJSON is an error as JSON: what a caller of a method gets.
type problemJSON struct {
	Error struct {
		Kind    api.Kind       `json:"kind"`
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data,omitempty"`
	} `json:"error"`
}

func (s *server) writeProblem(w http.ResponseWriter, p api.Problem) {
	s.writeProblemAs(w, statusOf(p.Kind), p)
}

func (s *server) writeProblemAs(w http.ResponseWriter, status int, p api.Problem) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	var v problemJSON
	v.Error.Kind, v.Error.Code, v.Error.Message, v.Error.Data = p.Kind, p.Code, p.Message, p.Data
	s.writeJSON(w, status, v)
}

// writeJSON sends a value on a line. Whatever stands in it, no browser takes it
// for a page.
func (s *server) writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a text is to come as it is stored
	if err := e.Encode(v); err != nil {
		s.log.Error("an answer can't be encoded", "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who went away misses nothing
}
