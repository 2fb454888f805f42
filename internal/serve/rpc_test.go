package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func TestRPC(t *testing.T) {
	db, s := store(t)
	create(t, db, sessiondb.NewSession{ID: "ab"}, "a <b> & c")
	create(t, db, sessiondb.NewSession{ID: "ac"})
	for _, w := range []struct {
		method, body string
		status       int
		want         string // a part of the answer
	}{
		{"session_count", ``, 200, "2\n"},
		{"session_count", `{}`, 200, "2\n"},
		{"get_messages", `{"session_id":"ab"}`, 200, `"content":"a <b> & c"`},
		{"set_session_title", `{"session_id":"ab","title":"plan"}`, 200, ""},
		{"set_session_title", `{"session_id":"ac","title":"plan"}`, 409, `"kind":"title_taken","code":-32004,`},
		{"resolve_session_id", `{"session_id_or_prefix":"a"}`, 409, `"candidates":["ac","ab"]`},
		{"get_session", `{"session_id":"x"}`, 404, `"kind":"not_found"`},
		{"get_session", `{}`, 400, `"data":{"param":"session_id"}`},
		{"get_session", `{"session_id":`, 400, `"kind":"invalid"`},
		{"no_such", ``, 404, `"kind":"unknown_method"`},
	} {
		a := ask(t, s, http.MethodPost, "/rpc/"+w.method, w.body, nil)
		if a.StatusCode != w.status || !strings.Contains(a.body, w.want) || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: status %d, want %d: %s", w.method, w.body, a.StatusCode, w.status, a.body)
		}
	}
	a := ask(t, s, http.MethodPost, "/rpc/get_session", `session_id=ab`, map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if a.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a form: status %d: %s", a.StatusCode, a.body)
	}
}

func TestLongBody(t *testing.T) {
	db, _ := store(t)
	s := newServer(t.Context(), db, Options{Token: secret, Local: true})
	s.maxBody = 100
	for length, want := range map[int]int{100: http.StatusNotFound, 101: http.StatusRequestEntityTooLarge} {
		body := `{"session_id":"x"}`
		body += strings.Repeat(" ", length-len(body))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/rpc/get_session", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		s.handler().ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("%d bytes: status %d, want %d: %s", length, rec.Code, want, rec.Body)
		}
	}
}

func TestReadOnly(t *testing.T) {
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, "hermes-v11.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serverOf(t, db, Options{})
	if a := ask(t, s, http.MethodPost, "/rpc/set_meta", `{"key":"k","value":"v"}`, nil); a.StatusCode != http.StatusForbidden {
		t.Errorf("status %d: %s", a.StatusCode, a.body)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if a := ask(t, s, http.MethodPost, "/rpc/backup", `{"path":"`+to+`"}`, nil); a.StatusCode != http.StatusForbidden {
		t.Errorf("a backup: status %d: %s", a.StatusCode, a.body)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

// Every status is one of a kind that there is.
func TestStatuses(t *testing.T) {
	known := map[api.Kind]bool{}
	for _, k := range api.Kinds() {
		known[k.Kind] = true
	}
	for kind := range statuses {
		if !known[kind] {
			t.Errorf("there is no kind %q", kind)
		}
	}
}

// The description names every method, and what it refers to is there.
func TestOpenAPI(t *testing.T) {
	_, s := store(t)
	var d struct {
		OpenAPI string
		Paths   map[string]struct {
			Post struct {
				OperationID string
				Responses   map[string]any
			}
		}
		Components map[string]map[string]any
	}
	text := get(t, s, "/openapi.json")
	decode(t, text, &d)
	if d.OpenAPI != "3.1.0" || len(d.Paths) != len(api.Methods) {
		t.Errorf("version %q, %d paths", d.OpenAPI, len(d.Paths))
	}
	for _, m := range api.Methods {
		p := d.Paths["/rpc/"+m.Name].Post
		if p.OperationID != m.Name || p.Responses["200"] == nil || p.Responses["404"] == nil {
			t.Errorf("%s: %+v", m.Name, p)
		}
	}
	var whole any
	decode(t, text, &whole)
	eachObject(whole, func(o map[string]any) {
		switch ref := o["$ref"].(type) {
		case string:
			part := strings.Split(ref, "/")
			if len(part) != 4 || d.Components[part[2]][part[3]] == nil {
				t.Errorf("nothing is at %s", ref)
			}
		}
		switch kind := o["type"].(type) {
		case string:
			if !strings.Contains(" string integer number boolean object array http ", " "+kind+" ") {
				t.Errorf("there is no type %q", kind)
			}
		}
	})
}

func eachObject(v any, fn func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			eachObject(e, fn)
		}
	case map[string]any:
		fn(v)
		for _, e := range v {
			eachObject(e, fn)
		}
	}
}
