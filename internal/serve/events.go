package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// event tells of a new message. What it says is fetched by who wants to know.
type event struct {
	Session string `json:"session"`
	Message int64  `json:"message"`
	Role    string `json:"role"`
}

// hub watches the store while somebody listens, once for all of them.
type hub struct {
	mu        sync.Mutex
	listeners map[chan event]bool
	stop      context.CancelFunc // of the watch; nil while nobody listens
}

const (
	maxListeners = 100
	eventsKept   = 64 // for a listener that is slow; more are left out
	watchEvery   = 300 * time.Millisecond
)

var errCrowded = errors.New("too many listen already")

// listen returns where new messages are told, until leave is called. The channel
// is closed when the watch ends.
func (h *hub) listen(ctx context.Context, db *sessiondb.DB) (events chan event, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= maxListeners {
		return nil, nil, errCrowded
	}
	if h.listeners == nil {
		h.listeners = map[chan event]bool{}
	}
	events = make(chan event, eventsKept)
	h.listeners[events] = true
	if h.stop == nil {
		ctx, h.stop = context.WithCancel(ctx)
		go h.watch(ctx, db)
	}
	return events, func() { h.leave(events) }, nil
}

func (h *hub) leave(events chan event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(h.listeners, events); len(h.listeners) == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// watch tells of new messages until ctx ends, or the store can't be read: then
// everybody is sent away, to come again.
func (h *hub) watch(ctx context.Context, db *sessiondb.DB) {
	for m, err := range db.Watch(ctx, sessiondb.WatchFilter{After: -1, Every: watchEvery}) {
		if err != nil {
			break
		}
		h.tell(event{m.SessionID, m.ID, m.Role})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return // nobody listens, or others watch by now
	}
	for l := range h.listeners {
		close(l)
	}
	h.listeners = nil
	h.stop()
	h.stop = nil
}

func (h *hub) tell(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		select {
		case l <- e:
		default: // it is behind, and will look again anyway
		}
	}
}

const (
	heartbeat    = 20 * time.Second
	writeTimeout = 30 * time.Second // of one piece of an answer that goes on
)

// events sends an event for each new message, as it is stored by any program.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	events, leave, err := s.hub.listen(s.ctx, s.db)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	send := func(format string, args ...any) error {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}
		return rc.Flush()
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for err = send("retry: 3000\n\n"); err == nil; {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			var b []byte
			if b, err = json.Marshal(e); err == nil {
				err = send("id: %d\nevent: message\ndata: %s\n\n", e.Message, b)
			}
		case <-beat.C:
			err = send(": still here\n\n")
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
