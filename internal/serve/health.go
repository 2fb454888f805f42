package serve

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// checkup is the last look for damage, and the one that runs.
type checkup struct {
	mu      sync.Mutex
	running bool
	what    string // is being looked at
	done    int64
	total   int64

	ended time.Time // zero if none has been
	found []sessiondb.Finding
	err   error
}

// health is the page of it.
type health struct {
	sessiondb.Info
	Counted     counts
	Running     bool
	What        string
	Done, Total int64
	Ended       time.Time
	Found       []sessiondb.Finding
	Err         error
}

// Bad says whether something is wrong.
func (h health) Bad() bool { return h.Err != nil || sessiondb.Worst(h.Found).Bad() }

func (s *server) health(w http.ResponseWriter, r *http.Request) {
	h := s.checkup.state()
	h.Info = s.db.Info()
	h.Counted = s.counted(r.Context())
	h.Err = cmp.Or(h.Err, h.Counted.Err)
	s.page(w, http.StatusOK, "health", view{Title: "Health", Nav: "health", Data: h})
}

// check begins a look for damage, unless one is running.
func (s *server) check(w http.ResponseWriter, r *http.Request) {
	s.checkup.start(s.ctx, s.db)
	http.Redirect(w, r, "/health", http.StatusSeeOther)
}

func (c *checkup) state() health {
	c.mu.Lock()
	defer c.mu.Unlock()
	return health{Running: c.running, What: c.what, Done: c.done, Total: c.total, Ended: c.ended, Found: c.found, Err: c.err}
}

func (c *checkup) start(ctx context.Context, db *sessiondb.DB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return
	}
	c.running, c.what, c.done, c.total = true, "", 0, 0
	go func() {
		found, err := db.Check(ctx, sessiondb.CheckOptions{Progress: c.progress})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running, c.found, c.err, c.ended = false, found, err, time.Now()
	}()
}

func (c *checkup) progress(what string, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.what, c.done, c.total = what, done, total
}
