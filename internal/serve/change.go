package serve

import (
	"net/http"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// maxForm is how long what a form sends may be, in bytes.
const maxForm = 64 << 10

// rename gives a session a title; an empty one takes it away.
func (s *server) rename(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id := r.PostFormValue("id")
	title, err := sessiondb.CleanTitle(r.PostFormValue("title"))
	if err == nil {
		begun := time.Now()
		err = s.db.SetTitle(r.Context(), id, title)
		s.meter.wrote(begun, err)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, sessionURL(id), http.StatusSeeOther)
}

// tag gives a conversation the tags in a line, and takes all others away.
func (s *server) tag(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	begun := time.Now()
	id := r.PostFormValue("id")
	_, err := s.db.SetTags(r.Context(), id, sessiondb.SplitTags(r.PostFormValue("tags")))
	s.meter.wrote(begun, err)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, sessionURL(id), http.StatusSeeOther)
}

// doomed is a conversation that is to be deleted.
type doomed struct {
	ID, Title string
	Report    sessiondb.DeleteReport
}

func (s *server) deletion(dry bool) sessiondb.DeleteOptions {
	return sessiondb.DeleteOptions{SessionsDir: s.options.SessionsDir, DryRun: dry, Trash: true}
}

// askDelete says what would be deleted, and asks.
func (s *server) askDelete(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	report, err := s.db.DeleteSession(r.Context(), id, s.deletion(true))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	one, err := s.db.Session(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "delete", view{Title: "Delete", Nav: "sessions", Data: doomed{id, name(one, ""), report}})
}

// delete moves a conversation to the trash.
func (s *server) delete(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	begun := time.Now()
	id := r.PostFormValue("id")
	report, err := s.db.DeleteSession(r.Context(), id, s.deletion(false))
	s.meter.wrote(begun, err)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "deleted", view{Title: "Deleted", Nav: "sessions", Data: doomed{ID: id, Report: report}})
}
