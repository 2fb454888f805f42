package sessiondb_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// readBack counts what the reading methods give of a store, and says whether
// damage was told.
func readBack(t *testing.T, path string) (sessions, listed, messages int, told bool) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true, Damaged: func(err error) {
		told = true
		if !errors.Is(err, sessiondb.ErrCorrupt) {
			t.Errorf("told %v", err)
		}
	}})
	if err != nil {
		t.Errorf("open: %v", err)
		return 0, 0, 0, true
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Sessions(t.Context(), sessiondb.ListFilter{Children: true, Limit: -1, Archived: true, ByLastActive: true})
	if err != nil {
		t.Errorf("list: %v", err)
	}
	if _, err := db.Search(t.Context(), sessiondb.SearchQuery{Text: "docker"}); err != nil {
		t.Errorf("search: %v", err)
	}
	if _, err := db.UsageByModel(t.Context(), sessiondb.UsageFilter{}); err != nil {
		t.Errorf("usage: %v", err)
	}
	if len(rows) > 0 {
		if _, err := db.Lineage(t.Context(), rows[0].ID); err != nil {
			t.Errorf("lineage: %v", err)
		}
	}
	var out bytes.Buffer
	_, err = db.ExportAll(t.Context(), &out, sessiondb.ExportFilter{Damaged: func(id string, n int64, err error) { told = true }})
	if err != nil {
		t.Errorf("export: %v", err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var s struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		sessions++
		messages += len(s.Messages)
	}
	return sessions, len(rows), messages, told
}

// One bad page costs the rows on it: whatever page is garbled, the rest of the
// store is listed, searched and exported, what is lost is told, and the file
// stays as it is.
func TestOneBadPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, name := range []string{"hermes-v11.db", "hermes-v25.db"} {
		t.Run(name, func(t *testing.T) {
			path := fixture.Copy(t, name)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sessions, listed, messages, told := readBack(t, path)
			if told || sessions < 90 || messages < 700 {
				t.Fatalf("%d sessions, %d messages, told: %v", sessions, messages, told)
			}
			b := badPage{good: good, sessions: sessions, listed: listed, messages: messages, r: rand.New(rand.NewPCG(1, 2))}
			b.size = int(binary.BigEndian.Uint16(good[16:]))
			schema := b.schemaPages()
			step := max(1, len(good)/b.size/20) // of a few hundred
			for page := 2 + b.r.IntN(step); page <= len(good)/b.size; page += step {
				if !schema[page] { // without the schema there is nothing to read by
					b.garble(t, page)
				}
			}
			b.garble(t, 2) // of the version
			b.garble(t, 5) // above all messages
		})
	}
}

// badPage is a sound store and what it gives.
type badPage struct {
	good                       []byte
	size                       int
	sessions, listed, messages int
	r                          *rand.Rand
}

// schemaPages are the pages that hold the schema.
func (b *badPage) schemaPages() map[int]bool {
	pages := map[int]bool{1: true}
	if b.good[100] == 5 {
		pages[int(binary.BigEndian.Uint32(b.good[108:]))] = true
		for i := range int(binary.BigEndian.Uint16(b.good[103:])) {
			cell := binary.BigEndian.Uint16(b.good[112+2*i:])
			pages[int(binary.BigEndian.Uint32(b.good[cell:]))] = true
		}
	}
	return pages
}

// mayLose is how many rows a page can cost.
func (b *badPage) mayLose(page int) int {
	at := (page - 1) * b.size
	switch b.good[at] {
	case 13: // rows
		return int(binary.BigEndian.Uint16(b.good[at+3:]))
	case 5: // above others
		return b.sessions + b.messages
	case 2, 10: // of an index
		return 0
	}
	return 1 // of a long value, or free
}

func (b *badPage) garble(t *testing.T, page int) {
	t.Helper()
	bad := bytes.Clone(b.good)
	for i := range b.size {
		bad[(page-1)*b.size+i] = byte(b.r.Uint32())
	}
	bad[(page-1)*b.size] = 0xff // surely no page
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	sessions, listed, messages, told := readBack(t, path)
	lost, may := b.sessions+b.messages-sessions-messages, b.mayLose(page)
	if lost > may || b.listed-listed > may || lost > 0 && !told {
		t.Errorf("page %d cost %d rows of at most %d, told: %v; %d listed", page, lost, may, told, listed)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
		t.Errorf("page %d: the file was changed: %v", page, err)
	}
	if t.Failed() {
		t.Fatalf("page %d", page)
	}
}
