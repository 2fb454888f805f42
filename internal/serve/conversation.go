package serve

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/htmlview"
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
}

// conversation shows a page of one. With part=messages only its messages are
// sent: those after one.
func (s *server) conversation(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id := q.Get("id")
	rd, err := read(r.Context(), s.db, id, startOf(q))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	c := conversation{reading: rd, Session: rd.Chain[len(rd.Chain)-1], ReadOnly: s.readOnly()}
	c.Title = titleOf(rd.Chain)
	if q.Get("part") == "messages" {
		s.page(w, http.StatusOK, "messages", view{Data: c})
		return
	}
	if c.Tags, err = s.db.Tags(r.Context(), id); err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "conversation", view{Title: c.Title, Nav: "sessions", Data: c})
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

// message shows one message whole.
func (s *server) message(w http.ResponseWriter, r *http.Request) {
	m, err := findMessage(r.Context(), s.db, r.URL.Query().Get("id"), startOf(r.URL.Query()).at)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "message", view{Title: fmt.Sprintf("Message %d", m.ID), Nav: "sessions", Data: m})
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

// messageHTML is a message on the page of its conversation.
func messageHTML(m sessiondb.Message) (template.HTML, error) {
	o := htmlview.MessageOptions{Link: messageURL(m.SessionID, m.ID), Max: maxShown}
	o.Whole = pathAndQuery("/message", url.Values{"id": {m.SessionID}, "m": {strconv.FormatInt(m.ID, 10)}})
	return rendered(m, o)
}

// wholeHTML is a message on a page of its own.
func wholeHTML(m sessiondb.Message) (template.HTML, error) {
	return rendered(m, htmlview.MessageOptions{Link: messageURL(m.SessionID, m.ID)})
}

func rendered(m sessiondb.Message, o htmlview.MessageOptions) (template.HTML, error) {
	var b bytes.Buffer
	err := htmlview.WriteMessage(&b, m, o)
	return template.HTML(b.String()), err // #nosec G203 -- htmlview makes it inert
}

// sessionURL is the page of a session.
func sessionURL(id string) string { return pathAndQuery("/session", url.Values{"id": {id}}) }

// messageURL is the page of a session where a message is.
func messageURL(id string, message int64) string {
	m := strconv.FormatInt(message, 10)
	return pathAndQuery("/session", url.Values{"id": {id}, "m": {m}}) + "#m-" + m
}
