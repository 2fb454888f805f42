package sessiondb_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

var messageID = regexp.MustCompile(`"id":\d+,"session_id"`)

// exportedLines is an export, without the ids of messages.
func exportedLines(t *testing.T, db *sessiondb.DB) (all []byte, lines []string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{}); err != nil {
		t.Fatal(err)
	}
	all = b.Bytes()
	for line := range bytes.Lines(all) {
		if !json.Valid(line) {
			t.Errorf("not JSON: %q", line)
		}
		lines = append(lines, messageID.ReplaceAllString(string(line), `"session_id"`))
	}
	return all, lines
}

// What other programs wrote comes back from an export, whatever they wrote.
func TestStoresOfOthersComeBack(t *testing.T) {
	for _, name := range []string{"hermes-v1.db", "hermes-v11.db", "hermes-v25.db", "v11-odd-types.db", "v11-bad-json.db", "v11-cycle.db"} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), fixture.Copy(t, name), sqlite.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			all, want := exportedLines(t, db)
			other, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.Close() }()
			report, err := other.Import(t.Context(), bytes.NewReader(all), sessiondb.ImportOptions{})
			if err != nil || report.Conflicts != nil || report.Failed != nil || report.Changed != nil {
				t.Fatalf("%+v, %v", report, err)
			}
			_, got := exportedLines(t, other)
			if d := cmp.Diff(want, got); d != "" || len(want) < 50 {
				t.Errorf("%d sessions, %s", len(want), d)
			}
		})
	}
}
