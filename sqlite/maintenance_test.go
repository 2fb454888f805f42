package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// TestMaintenanceShrinksTheFile prunes most of a store: the text that was
// deleted leaves the indexes too, or the file would keep most of its size.
func TestMaintenanceShrinksTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	clock := now
	db, err := Open(t.Context(), path, Options{Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	random := rand.New(rand.NewPCG(1, 2))
	for s := range 30 {
		id := fmt.Sprint("s", s)
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		ms := make([]sessiondb.Message, 40)
		for i := range ms {
			words := make([]string, 60)
			for w := range words {
				words[w] = fmt.Sprintf("%x", random.Uint32())
			}
			ms[i] = sessiondb.Message{Role: "user", Content: sessiondb.Text(strings.Join(words, " "))}
		}
		if _, err := db.AppendMessages(t.Context(), id, ms); err != nil {
			t.Fatal(err)
		}
		if s > 0 {
			if err := db.EndSession(t.Context(), id, "done"); err != nil {
				t.Fatal(err)
			}
		}
	}
	size := func() int64 {
		var sum int64
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(path + suffix); err == nil {
				sum += info.Size()
			}
		}
		return sum
	}
	before := size()
	clock = clock.AddDate(0, 0, 100)
	r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{})
	if r.Err != nil || r.Pruned != 29 || !r.Vacuumed {
		t.Fatalf("got %+v", r)
	}
	if after := size(); after*10 > before {
		t.Errorf("%d bytes before, %d after one session in thirty is left", before, after)
	}
}

// TestPruneWhileOthersWrite prunes while sessions get messages: whatever gets
// one in time stays, and no message is without its session.
func TestPruneWhileOthersWrite(t *testing.T) {
	var mu sync.Mutex
	clock := now
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(t.Context(), path, Options{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const sessions = 120
	for i := range sessions {
		id := fmt.Sprint("s", i)
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		if err := db.EndSession(t.Context(), id, "done"); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	clock = clock.AddDate(0, 0, 100)
	mu.Unlock()
	kept := make(chan string, sessions)
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := sessions - 1 - w; i >= 0; i -= 3 {
				id := fmt.Sprint("s", i)
				if _, err := db.AppendMessage(t.Context(), id, sessiondb.Message{Role: "user"}); err == nil {
					kept <- id
				}
			}
		})
	}
	r, err := db.Prune(t.Context(), sessiondb.PruneFilter{}, sessiondb.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	writers.Wait()
	close(kept)
	for id := range kept {
		if n, err := db.MessageCount(t.Context(), id); err != nil || n != 1 {
			t.Errorf("%s was written to and has %d messages, %v", id, n, err)
		}
	}
	left, err := db.SessionCount(t.Context(), "")
	if err != nil || int(left)+len(r.Sessions) != sessions || r.Messages != 0 {
		t.Errorf("%d left, %d sessions and %d messages pruned, %v", left, len(r.Sessions), r.Messages, err)
	}
}
