package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/pgtest"
	"github.com/sessiondb-go/sessiondb/postgres"
)

// A monitor hears that the server of the store is away before a read gives up on it.
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
	monitor := func(path, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a read waits for longer
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if ctx.Err() != nil || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s, %v: status %d: %s", path, ctx.Err(), rec.Code, rec.Body)
		}
	}
	monitor("/healthz", "ok")
	monitor("/metrics", "sessiondb_up 1")
	stop()
	stop = func() {}
	monitor("/healthz", "does not answer")
	monitor("/metrics", "sessiondb_up 0")
}
