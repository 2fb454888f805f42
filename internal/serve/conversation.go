package serve

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/sessiondb-go/sessiondb"
)

// maxShown is how many bytes of each text of a message a page shows. A page of
// that message alone has all of it.
const maxShown = 20 << 10

// conversation is the page of one.
type conversation struct {
	reading
	Session  sessiondb.Session // the last one of the chain
	Title    string
	Tags     []string
	ReadOnly bool
	shown
}

// conversation shows a page of one. With part=messages only its messages are
// sent: those after one.
func (s *server) conversation(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id := q.Get("id")
	rd, err := read(r.Context(), s.db, id, startOf(q))
	if errors.Is(err, sessiondb.ErrNotFound) {
		s.seek(w, r, id)
		return
	}
	c := conversation{reading: rd, ReadOnly: s.readOnly()}
	if err == nil {
		c.Session, c.Title = rd.Chain[len(rd.Chain)-1], titleOf(rd.Chain)
		c.shown, err = show(rd, q.Get("q"))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if q.Get("part") == "messages" {
		s.page(w, http.StatusOK, "messages", view{Data: c})
		return
	}
	if c.Tags, err = s.db.Tags(r.Context(), id); err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "conversation", view{Title: c.Title, Nav: "sessions", Query: c.Query, Data: c})
}

func startOf(q url.Values) (from start) {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 64) // what is no number is no place
		return max(n, 0)
	}
	switch {
	case q.Get("end") != "":
		from.end = true
	case number("m") > 0:
		from.at = number("m")
	case number("after") > 0:
		from.after = number("after")
	default:
		from.before = number("before")
	}
	return from
}

// titleOf is the title of a chain: the one nearest to its end.
func titleOf(chain []sessiondb.Session) string {
	for i := len(chain) - 1; i >= 0; i-- {
		if t := chain[i].Title; t != nil && *t != "" {
			return *t
		}
	}
	return chain[len(chain)-1].ID
}

// seek leads on to the session that is meant by what is no id: the beginning of one, or
// a title.
func (s *server) seek(w http.ResponseWriter, r *http.Request, ref string) {
	found, err := s.db.FindSession(r.Context(), ref)
	if several := new(sessiondb.AmbiguousError); errors.As(err, &several) {
		s.choose(w, r, several)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, instead(r, found.ID), http.StatusSeeOther)
}

// instead is the address of a request with another session in it.
func instead(r *http.Request, id string) string {
	q := r.URL.Query()
	q.Set("id", id)
	return pathAndQuery(r.URL.Path, q)
}

// choice is the page of what could be meant.
type choice struct {
	Ref      string
	Sessions []sessiondb.Session
	At       map[string]string // id -> address
}

func (s *server) choose(w http.ResponseWriter, r *http.Request, several *sessiondb.AmbiguousError) {
	c := choice{Ref: several.Ref, At: map[string]string{}}
	for _, id := range several.Candidates {
		one, err := s.db.Session(r.Context(), id)
		if errors.Is(err, sessiondb.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		c.Sessions, c.At[id] = append(c.Sessions, one), instead(r, id)
	}
	s.page(w, statusOf("ambiguous"), "choice", view{Title: "Which one?", Nav: "sessions", Data: c})
}

// message shows one message whole.
func (s *server) message(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	m, err := findMessage(r.Context(), s.db, q.Get("id"), startOf(q).at)
	var html template.HTML
	if err == nil {
		html, err = wholeHTML(m, q.Get("q"))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	data := map[string]any{"HTML": html, "Back": hitURL(m.SessionID, m.ID, q.Get("q"))}
	s.page(w, http.StatusOK, "message", view{Title: fmt.Sprintf("Message %d", m.ID), Nav: "sessions", Query: q.Get("q"), Data: data})
}

func findMessage(ctx context.Context, db *sessiondb.DB, id string, at int64) (sessiondb.Message, error) {
	around, err := db.MessagesAround(ctx, id, at, 0)
	if err == nil && len(around.Window) == 0 {
		err = fmt.Errorf("message %d of session %s: %w", at, id, sessiondb.ErrNotFound)
	}
	if err != nil {
		return sessiondb.Message{}, err
	}
	return around.Window[0], nil
}

// sessionURL is the page of a session.
func sessionURL(id string) string { return pathAndQuery("/session", url.Values{"id": {id}}) }

// hitURL is the page of a session where a message is, at its first match if it was
// found by a query.
func hitURL(id string, message int64, query string) string {
	m := strconv.FormatInt(message, 10)
	if query == "" {
		return link("/session", "id", id, "m", m) + "#m-" + m
	}
	return link("/session", "id", id, "m", m, "q", query) + "#" + firstMatch(message)
}

// firstMatch is the name of the first match in a message.
func firstMatch(message int64) string { return fmt.Sprintf("m-%d-1", message) }
