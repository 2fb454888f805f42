package sessiondb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// An export of a store with a damaged page has everything else.
func TestExportGoesPastDamage(t *testing.T) {
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, "v11-badpage-messages.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b bytes.Buffer
	if _, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{}); !errors.Is(err, sessiondb.ErrCorrupt) {
		t.Errorf("without a word of damage: %v", err)
	}
	b.Reset()
	damaged := map[string]int64{}
	n, err := db.ExportAll(t.Context(), &b, sessiondb.ExportFilter{Damaged: func(id string, messages int64, err error) {
		if !errors.Is(err, sessiondb.ErrCorrupt) {
			t.Errorf("%s: %v", id, err)
		}
		damaged[id] = messages
	}})
	if err != nil || n != 93 || len(damaged) == 0 || len(damaged) > 20 {
		t.Fatalf("%d sessions, %v, %d damaged", n, err, len(damaged))
	}
	lost, kept := 0, 0
	for line := range bytes.Lines(b.Bytes()) {
		var s struct {
			ID           string
			MessageCount int `json:"message_count"`
			Messages     []json.RawMessage
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		kept += len(s.Messages)
		if told, ok := damaged[s.ID]; ok {
			lost += s.MessageCount - len(s.Messages)
			if told != int64(len(s.Messages)) {
				t.Errorf("%s: told of %d messages, has %d", s.ID, told, len(s.Messages))
			}
		} else if s.MessageCount != len(s.Messages) {
			t.Errorf("%s: %d of %d messages, untold", s.ID, len(s.Messages), s.MessageCount)
		}
	}
	if lost == 0 || lost > 100 || kept < 700 {
		t.Errorf("%d lost, %d kept", lost, kept)
	}
}
