package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/bench/corpus"
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
	for _, r := range results {
		for _, n := range r.notes {
			t.Errorf("%s, %s: %s", r.name, r.data, n)
		}
	}
	if report := e.report(results); strings.Contains(report, "not measured") {
		t.Error(report)
	}
}
