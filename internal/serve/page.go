package serve

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

//go:embed pages/*.tmpl
var pages embed.FS

// templates are read when the first page is asked for.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions()).ParseFS(pages, "pages/*.tmpl"))
})

// view is what a page shows.
type view struct {
	Title string
	Nav   string // the part of the menu that the page belongs to; empty for none
	Query string // what is searched for
	Data  any
}

// page sends a page, whole or not at all.
func (s *server) page(w http.ResponseWriter, status int, name string, v view) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, v); err != nil {
		s.log.Error("a page can't be made", "page", name, "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = term.FileWriter(w).Write(b.Bytes()) // who went away misses nothing
}

// failure is the page of an error: what failed, and what to do next.
type failure struct{ Text, Hint string }

// hints say what to do about an error that a page meets.
var hints = map[api.Kind]string{
	"not_found":     "It may have been deleted, or continued under another id.",
	"title_taken":   "Choose another title, or rename that session first.",
	"title_invalid": "Shorten the title.",
	"busy":          "Nothing was written. Try again when the other program is done.",
	"full":          "Nothing was written. Free some space and try again.",
	"replaced":      "Nothing was written. Start the server again to use the file that is there now.",
	"schema_newer":  "A newer program owns this store: it can be read here, not changed.",
	"read_only":     "Nothing was written. The store was opened for reading, or can only be read.",
	"corrupt":       "Keep the file as it is. 'sessiondb doctor' says what is damaged, and 'sessiondb recover' saves what can be read.",
}

// fail shows an error.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there to see it
	}
	if unanswered(err) {
		s.log.Warn("the store does not answer", "error", err)
		s.failWith(w, http.StatusServiceUnavailable, failure{away(err), "What was acknowledged is safe. Load the page again when the store can be reached."})
		return
	}
	p := api.Explain(err)
	s.failWith(w, statusOf(p.Kind), failure{p.Message, hints[p.Kind]})
}

// away says that the store does not answer, and why if that is known.
func away(err error) string {
	if !errors.Is(err, sessiondb.ErrConnection) {
		return "The store does not answer."
	}
	return "The store does not answer: " + err.Error()
}

func (s *server) failWith(w http.ResponseWriter, status int, f failure) {
	s.page(w, status, "failure", view{Title: http.StatusText(status), Data: f})
}

// nowhere is what is behind an address that there is not, or not for this method: a page,
// or for who calls methods JSON.
func (s *server) nowhere(w http.ResponseWriter, r *http.Request, muxes ...*http.ServeMux) {
	status, kind, why := http.StatusNotFound, api.Kind("unknown_method"), "There is nothing at "+r.URL.Path+"."
	if allowed := allows(r, muxes); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		status, kind, why = http.StatusMethodNotAllowed, "invalid_request", r.Method+" is not for this address: use "+strings.Join(allowed, " or ")+"."
	}
	if strings.HasPrefix(r.URL.Path, "/rpc/") || r.URL.Path == "/rpc" {
		s.writeProblemAs(w, status, api.NewProblem(kind, why+" Methods are called by POST /rpc/METHOD; /openapi.json lists them."))
		return
	}
	s.failWith(w, status, failure{why, "The links above lead to what there is."})
}

// allows are the methods that there is something for at the address of a request.
func allows(r *http.Request, muxes []*http.ServeMux) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := *r
		other.Method = method
		if slices.ContainsFunc(muxes, func(mux *http.ServeMux) bool {
			_, pattern := mux.Handler(&other)
			return pattern != "/"
		}) {
			methods = append(methods, method)
		}
	}
	return methods
}
