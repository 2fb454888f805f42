package sqlite

import (
	"sync"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Both readers of a pair see the same, whatever is committed meanwhile.
func TestReadPair(t *testing.T) {
	path := newPath(t)
	s := open(t, path, Options{})
	other := open(t, path, Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := other.Write(t.Context(), put(t.Context(), string(rune('a'+i%26))+string(rune('a'+i/26%26)))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	pairs := 0
	for range 300 {
		err := s.ReadPair(t.Context(), func(a, b engine.Queryer) error {
			if b == nil {
				return nil
			}
			pairs++
			var n, m int
			count := "SELECT COUNT(*) FROM state_meta"
			if err := b.QueryRow(t.Context(), count).Scan(&m); err != nil {
				return err
			}
			err := a.QueryRow(t.Context(), count).Scan(&n)
			if n != m {
				t.Errorf("one sees %d, the other %d", n, m)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if pairs == 0 {
		t.Error("there was never a pair")
	}
}

// Who finds no second connection free reads with one.
func TestReadPairAlone(t *testing.T) {
	s := fresh(t)
	for range maxReaders - 1 {
		c, err := s.readers.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.readers.put(c, true)
	}
	err := s.ReadPair(t.Context(), func(a, b engine.Queryer) error {
		if a == nil || b != nil {
			t.Error("a second")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
