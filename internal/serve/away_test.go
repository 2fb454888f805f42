package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/pgtest"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// A monitor hears that the server of the store is away before a read gives up on it,
// and so does who looks at a page.
func TestServerAway(t *testing.T) {
	if os.Getenv(pgtest.Variable) != "" {
		t.Skip("the server is not ours to stop")
	}
	dsn, stop, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if dsn == "" {
		t.Skip(pgtest.Missing)
	}
	defer func() { stop() }()
	db, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	h := newServer(t.Context(), db, Options{Token: secret, Local: true}).handler()
	monitor := func(path string, status int, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a read waits for longer
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if ctx.Err() != nil || rec.Code != status || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s, %v: status %d: %s", path, ctx.Err(), rec.Code, rec.Body)
		}
	}
	monitor("/healthz", http.StatusOK, "ok")
	monitor("/metrics", http.StatusOK, "sessiondb_up 1")
	monitor("/health", http.StatusOK, "Health")
	stop()
	stop = func() {}
	monitor("/healthz", http.StatusServiceUnavailable, "does not answer")
	monitor("/metrics", http.StatusOK, "sessiondb_up 0")
	var pages sync.WaitGroup
	for _, page := range []string{"/health", "/", "/session?id=a", "/usage", "/export"} {
		pages.Go(func() {
			monitor(page, http.StatusServiceUnavailable, "The store does not answer: "+sessiondb.ErrConnection.Error())
		})
	}
	pages.Wait()
}
