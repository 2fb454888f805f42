package serve

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/htmlview"
)

//go:embed assets
var assets embed.FS

// asset is a file that pages load.
type asset struct {
	kind string
	text string
	url  string // with a mark of what it holds
}

// loaded are the files by their name.
var loaded = sync.OnceValue(func() map[string]*asset {
	m := map[string]*asset{
		"app.css":  {kind: "text/css; charset=utf-8", text: htmlview.MessageStyle + embedded("app.css")},
		"app.js":   {kind: "text/javascript; charset=utf-8", text: embedded("app.js")},
		"icon.svg": {kind: "image/svg+xml", text: embedded("icon.svg")},
	}
	for name, a := range m {
		sum := sha256.Sum256([]byte(a.text))
		a.url = "/static/" + name + "?" + hex.EncodeToString(sum[:6])
	}
	return m
})

func embedded(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return string(b)
}

func assetURL(name string) string { return loaded()[name].url }

// static sends a file. Its address changes with it, so browsers keep it.
func (s *server) static(w http.ResponseWriter, r *http.Request) {
	a, ok := loaded()[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if strings.HasSuffix(a.url, "?"+r.URL.RawQuery) {
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
	}
	_, _ = w.Write([]byte(a.text)) // who went away misses nothing
}
