// Package serve offers the store to a browser and, over HTTP, to other programs:
// pages, the methods of internal/api, and what a monitor wants to know. It holds
// no rules of the store and no SQL, and it opens no files.
package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
)

// Options shape a server.
type Options struct {
	// Token is what whoever speaks to the server has to know. Without one nobody
	// is let in.
	Token string
	// Local says that only this machine reaches the server: it then goes by no
	// name but localhost and its own addresses.
	Local bool
	// Names are host names that it goes by as well.
	Names   []string
	Version string // of the program
	// SessionsDir is a folder of transcript files, of which those of a deleted
	// session go with it; empty for none.
	SessionsDir string
	// LogSize tells how long the write-ahead log is, in bytes, and false where
	// there is none; nil is fine.
	LogSize func() (int64, bool)
	// Logger is told of what no caller can be told; nil discards.
	Logger *slog.Logger
	// Now is the clock, and its zone that of the days; nil means time.Now.
	Now func() time.Time
}

// server is what the handlers share.
type server struct {
	ctx     context.Context // ends with the server
	db      *sessiondb.DB
	options Options
	log     *slog.Logger
	now     func() time.Time
	maxBody int64 // how long the parameters of a call may be, in bytes
	checkup checkup
	tally   tally
	ranked  int // how many messages are ranked without being asked to
	hub     hub
	meter   meter
}

// Handler serves a store, until ctx ends.
func Handler(ctx context.Context, db *sessiondb.DB, o Options) http.Handler {
	return newServer(ctx, db, o).handler()
}

func newServer(ctx context.Context, db *sessiondb.DB, o Options) *server {
	s := &server{ctx: ctx, db: db, options: o, log: o.Logger, now: o.Now, maxBody: maxBody, ranked: maxRanked}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// handler is the walls, from the outermost in, and the rooms behind them.
func (s *server) handler() http.Handler {
	open := http.NewServeMux() // for who has no token yet
	open.HandleFunc("GET /healthz", s.healthz)
	open.HandleFunc("GET /static/{name}", s.static)
	open.HandleFunc("POST /login", s.login)
	open.Handle("/", s.known(s.rooms(open)))
	walls := httpaccess.Hosts(s.options.Local, s.options.Names, httpaccess.SameOrigin(open))
	return s.guarded(s.meter.count(walls))
}

// rooms are what only who is known gets to see, beside what is open to all.
func (s *server) rooms(open *http.ServeMux) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.asked(s.sessions, "q", "source", "order", "offset", "part", "typing", "tag"))
	mux.HandleFunc("GET /session", s.asked(s.conversation, "id", "m", "after", "before", "end", "part", "q"))
	mux.HandleFunc("GET /message", s.asked(s.message, "id", "m", "q"))
	mux.HandleFunc("GET /lineage", s.asked(s.lineage, "id"))
	mux.HandleFunc("GET /usage", s.asked(s.usage, "days", "source", "tag"))
	mux.HandleFunc("GET /health", s.asked(s.health))
	mux.HandleFunc("POST /check", s.check)
	mux.HandleFunc("POST /rename", s.answering(s.rename))
	mux.HandleFunc("POST /tag", s.answering(s.tag))
	mux.HandleFunc("GET /delete", s.asked(s.askDelete, "id"))
	mux.HandleFunc("POST /delete", s.answering(s.delete))
	mux.HandleFunc("GET /export", s.asked(s.export, "id", "source", "format", "lineage", "redact", "tag"))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.nowhere(w, r, open, mux) })
	mux.HandleFunc("POST /rpc/{method}", s.rpc)
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	return mux
}

// How long a client may take. Answers may take as long as they take, as long as
// somebody reads them.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 5 * time.Second
)

// Serve answers what comes in at l until ctx ends. Then it takes in nothing more,
// lets answers that are under way end for some seconds, and returns nil.
func Serve(ctx context.Context, l net.Listener, db *sessiondb.DB, o Options) error {
	s := newServer(ctx, db, o)
	h := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if h.Shutdown(last) != nil {
			_ = h.Close() // they had their time
		}
	})
	err := h.Serve(l)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *server) readOnly() bool { return s.db.Info().ReadOnly }

// healthTimeout is how long a monitor waits to hear whether the store answers: not
// as long as a read waits for a server that is away. pageTimeout is how long a person
// does; what a page asks for may take longer, once the store answers.
const (
	healthTimeout = 2 * time.Second
	pageTimeout   = 5 * time.Second
)

// answers is nil if the store can be read, and tells so in time.
func (s *server) answers(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, _, err := s.db.Meta(ctx, "health")
	return cmp.Or(errors.Unwrap(err), err) // what was asked for interests nobody
}

// answering is a page of a store that answers. What else is wrong, the page tells.
func (s *server) answering(page http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.answers(r.Context(), pageTimeout); unanswered(err) {
			s.fail(w, r, err)
			return
		}
		page(w, r)
	}
}

// unanswered says that there is no answer, not even that something is wrong.
func unanswered(err error) bool {
	return errors.Is(err, sessiondb.ErrConnection) || errors.Is(err, context.DeadlineExceeded)
}

// healthz says that the store answers. It tells nothing else, so no token is
// needed.
func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	if err := s.answers(r.Context(), healthTimeout); err != nil {
		s.log.Warn("the store does not answer", "error", err)
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}
