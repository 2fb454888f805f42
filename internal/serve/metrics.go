package serve

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
)

// meter counts what happens in this server, for a monitor.
type meter struct {
	mu       sync.Mutex
	inFlight int
	requests map[request]int64
	took     map[string]*histogram // by route
	calls    map[call]int64
	writes   histogram
	failed   int64         // writes
	busy     int64         // writes that gave up
	waited   time.Duration // those waited so long
}

type request struct {
	route, method string
	status        int
}

type call struct {
	method string
	kind   api.Kind // "ok" for those that did what they should
}

// bounds are the upper ends of the buckets of a histogram, in seconds.
var bounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

type histogram struct {
	buckets [11]int64 // of bounds, each for itself
	n       int64
	sum     float64
}

func (h *histogram) add(d time.Duration) {
	v := d.Seconds()
	h.n++
	h.sum += v
	if i, _ := slices.BinarySearch(bounds, v); i < len(bounds) {
		h.buckets[i]++
	}
}

// count counts requests and how long they take. Answers that go on for as long as
// somebody listens are not timed.
func (m *meter) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		seen := &statusWriter{ResponseWriter: w}
		m.mu.Lock()
		m.inFlight++
		m.mu.Unlock()
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.inFlight--
			m.ended(r, cmp.Or(seen.status, http.StatusOK), time.Since(begun))
		}()
		h.ServeHTTP(seen, r)
	})
}

func (m *meter) ended(r *http.Request, status int, took time.Duration) {
	if m.requests == nil {
		m.requests, m.took = map[request]int64{}, map[string]*histogram{}
	}
	_, route, _ := strings.Cut(r.Pattern, " ")
	route = cmp.Or(strings.TrimSuffix(route, "{$}"), "other")
	m.requests[request{route, methodName(r.Method), status}]++
	if route == "/events" {
		return
	}
	if m.took[route] == nil {
		m.took[route] = &histogram{}
	}
	m.took[route].add(took)
}

// methodName keeps what anybody may send out of the names of counters.
func methodName(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return method
	}
	return "other"
}

// called counts a call of a method.
func (m *meter) called(method string, begun time.Time, writes bool, err error) {
	kind := api.Kind("ok")
	if err != nil {
		kind = api.Explain(err).Kind
	}
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[call]int64{}
	}
	m.calls[call{method, kind}]++
	m.mu.Unlock()
	if writes {
		m.wrote(begun, err)
	}
}

// wrote counts a write, and what it waited for in vain.
func (m *meter) wrote(begun time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes.add(time.Since(begun))
	if err != nil {
		m.failed++
	}
	if b := new(sessiondb.BusyError); errors.As(err, &b) {
		m.busy++
		m.waited += b.Waited
	}
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// metrics tells what was counted, in the text format of Prometheus.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var n counts
	err := s.answers(r.Context(), healthTimeout)
	if err == nil {
		n = s.counted(r.Context())
		err = n.Err
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	p := &exposition{bufio.NewWriter(w)}
	p.head("sessiondb_info", "gauge", "The program and the schema of the store.")
	p.line("sessiondb_info", fmt.Sprintf("version=%q,schema=\"%d\"", s.options.Version, s.db.Info().SchemaVersion), 1)
	up := 1
	if err != nil {
		up = 0
	}
	p.one("sessiondb_up", "gauge", "Whether the store can be read.", up)
	if err == nil && n.Known {
		p.one("sessiondb_sessions", "gauge", "Sessions in the store, when they were last counted.", n.Sessions)
		p.one("sessiondb_messages", "gauge", "Messages in the store, when they were last counted.", n.Messages)
	}
	if s.options.LogSize != nil {
		if n, ok := s.options.LogSize(); ok {
			p.one("sessiondb_wal_bytes", "gauge", "Length of the write-ahead log.", n)
		}
	}
	p.one("sessiondb_listeners", "gauge", "Who listens for new messages.", s.hub.size())
	s.meter.expose(p)
	_ = p.Flush() // who went away misses nothing
}

func (h *hub) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners)
}

// exposition writes the text format of Prometheus.
type exposition struct{ *bufio.Writer }

func (p *exposition) head(name, kind, help string) {
	_, _ = fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *exposition) line(name, labels string, value any) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	_, _ = fmt.Fprintf(p, "%s%s %v\n", name, labels, value)
}

func (p *exposition) one(name, kind, help string, value any) {
	p.head(name, kind, help)
	p.line(name, "", value)
}

func (p *exposition) histogram(name, labels string, h *histogram) {
	comma := ""
	if labels != "" {
		comma = ","
	}
	sum := int64(0)
	for i, n := range h.buckets {
		sum += n
		p.line(name+"_bucket", fmt.Sprintf("%s%sle=\"%g\"", labels, comma, bounds[i]), sum)
	}
	p.line(name+"_bucket", labels+comma+`le="+Inf"`, h.n)
	p.line(name+"_sum", labels, h.sum)
	p.line(name+"_count", labels, h.n)
}

func (m *meter) expose(p *exposition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.one("sessiondb_http_in_flight", "gauge", "Requests that are being answered.", m.inFlight)
	p.head("sessiondb_http_requests_total", "counter", "Requests by route, method and status.")
	for _, k := range slices.SortedFunc(maps.Keys(m.requests), func(a, b request) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	}) {
		p.line("sessiondb_http_requests_total", fmt.Sprintf("route=%q,method=%q,status=\"%d\"", k.route, k.method, k.status), m.requests[k])
	}
	p.head("sessiondb_http_request_seconds", "histogram", "How long answers took.")
	for _, route := range slices.Sorted(maps.Keys(m.took)) {
		p.histogram("sessiondb_http_request_seconds", fmt.Sprintf("route=%q", route), m.took[route])
	}
	p.head("sessiondb_calls_total", "counter", "Calls by method and kind of error.")
	for _, k := range slices.SortedFunc(maps.Keys(m.calls), func(a, b call) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.kind, b.kind))
	}) {
		p.line("sessiondb_calls_total", fmt.Sprintf("method=%q,kind=%q", k.method, k.kind), m.calls[k])
	}
	p.head("sessiondb_write_seconds", "histogram", "How long writes of this server took, waits included.")
	p.histogram("sessiondb_write_seconds", "", &m.writes)
	p.one("sessiondb_write_errors_total", "counter", "Writes that failed.", m.failed)
	p.one("sessiondb_busy_total", "counter", "Writes that gave up because others wrote.", m.busy)
	p.one("sessiondb_busy_waited_seconds_total", "counter", "How long those had waited.", m.waited.Seconds())
}
