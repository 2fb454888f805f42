package serve

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"sync"
)

//go:embed pages/*.tmpl
var pages embed.FS

// templates are read when the first page is asked for.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(pages, "pages/*.tmpl"))
})

var functions = template.FuncMap{}

// view is what a page shows.
type view struct {
	Title string
	Nav   string // the part of the menu that the page belongs to; empty for none
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
	_, _ = w.Write(b.Bytes()) // who went away misses nothing
}
