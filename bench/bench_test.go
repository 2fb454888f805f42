package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/bench/corpus"
	"github.com/sessiondb-go/sessiondb/internal/pgtest"
	"github.com/sessiondb-go/sessiondb/postgres"
)

func TestMain(m *testing.M) {
	if workerMain(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// TestRows runs every row once on stores of a few messages: all sides answer,
// and alike.
func TestRows(t *testing.T) {
	for _, tool := range []string{"gcc", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	e, err := setUp(t.Context(), config{
		Dir: t.TempDir(), Small: corpus.Size{Name: "small", Sessions: 60, Messages: 600}, Large: corpus.Size{Name: "large", Sessions: 120, Messages: 1500},
		Rounds: 1, Appends: 20, say: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	results := measure(t.Context(), allRows(e), regexp.MustCompile(""), 1, func(string) {})
	unfailing(t, e, results)
}

// TestRowsOfPostgres does so for those of a server.
func TestRowsOfPostgres(t *testing.T) {
	dsn, stop, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if dsn == "" {
		t.Skip(pgtest.Missing)
	}
	e, err := setUpServer(t.Context(), config{
		Dir: t.TempDir(), Server: corpus.Size{Name: "server", Sessions: 120, Messages: 1500}, Rounds: 1, Appends: 16, Postgres: dsn, say: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	results := measure(t.Context(), postgresRows(e), regexp.MustCompile(""), 1, func(string) {})
	unfailing(t, e, results)
	for _, r := range results {
		if lost, ok := r.medians["ours.lost"]; ok && lost != 0 {
			t.Errorf("%s: %v messages are lost", r.name, lost)
		}
	}
}

// TestStoreOnServer makes a store several times over, which is a whole one.
func TestStoreOnServer(t *testing.T) {
	dsn, stop, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if dsn == "" {
		t.Skip(pgtest.Missing)
	}
	dsn += "&search_path=copies"
	const copies, messages = 3, 900
	if err := corpus.OnServer(t.Context(), dsn, corpus.Size{Name: "copies", Sessions: 60, Messages: messages}, copies, func(string) {}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if n, err := db.MessageCount(t.Context(), ""); err != nil || n != copies*messages {
		t.Errorf("%d messages, %v", n, err)
	}
	found, err := db.Check(t.Context(), sessiondb.CheckOptions{Full: true})
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func unfailing(t *testing.T, e *env, results []result) {
	t.Helper()
	for _, r := range results {
		for _, n := range r.notes {
			t.Errorf("%s, %s: %s", r.name, r.data, n)
		}
	}
	if report := e.report(results); strings.Contains(report, "not measured") {
		t.Error(report)
	}
}
