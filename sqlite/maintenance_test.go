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

// filled is a store whose sessions have messages of random words and all but
// the first have ended.
func filled(t *testing.T, o Options, l sessiondb.IndexLayout, sessions, messages int) (*sessiondb.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Compact(t.Context(), sessiondb.CompactOptions{Layout: l}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for s := range sessions {
		id := fmt.Sprint("s", s)
		if _, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: "cli"}); err != nil {
			t.Fatal(err)
		}
		ms := make([]sessiondb.Message, messages)
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
	return db, path
}

// bytesOf is what a store takes on the disk.
func bytesOf(path string) (sum int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// TestMaintenanceShrinksTheFile prunes most of a store: the text that was
// deleted leaves the indexes too, or the file would keep most of its size.
func TestMaintenanceShrinksTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for l, messages := range map[sessiondb.IndexLayout]int{sessiondb.InlineIndexes: 60, sessiondb.ExternalIndexes: 20} {
		clock := now
		db, path := filled(t, Options{Now: func() time.Time { return clock }}, l, 40, messages)
		before := bytesOf(path)
		clock = clock.AddDate(0, 0, 100)
		r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{})
		if r.Err != nil || r.Pruned != 39 || !r.Vacuumed {
			t.Fatalf("got %+v", r)
		}
		after := bytesOf(path)
		if after*20 > before {
			t.Errorf("%s: %d bytes before, %d after one session in forty is left", l, before, after)
		}
		t.Log(l, before, after)
	}
}

// TestMaintenanceWeighsVacuum prunes little of a store that is not small: to
// write it all anew would give next to nothing back. The log is emptied all the
// same. Pruned further, it pays at some point.
func TestMaintenanceWeighsVacuum(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	clock := now
	db, path := filled(t, Options{Now: func() time.Time { return clock }}, sessiondb.InlineIndexes, 30, 40)
	for i := 2; i < 30; i++ { // s1 alone may go
		if err := db.ReopenSession(t.Context(), fmt.Sprint("s", i)); err != nil {
			t.Fatal(err)
		}
	}
	before := fileSize(t, path)
	for i, vacuumed := range []bool{false, true} {
		clock = clock.AddDate(0, 0, 100)
		r := db.MaybePruneAndVacuum(t.Context(), sessiondb.MaintenanceOptions{})
		if r.Err != nil || r.Pruned == 0 || r.Vacuumed != vacuumed {
			t.Errorf("%d: got %+v", i, r)
		}
		if size := fileSize(t, path); (size < before) != vacuumed {
			t.Errorf("%d: %d bytes, %d before", i, size, before)
		}
		if size := bytesOf(path) - fileSize(t, path); size != 0 {
			t.Errorf("%d: a log of %d bytes", i, size)
		}
		for s := 2; s < 12 && !vacuumed; s++ {
			if err := db.EndSession(t.Context(), fmt.Sprint("s", s), "done"); err != nil {
				t.Fatal(err)
			}
		}
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
