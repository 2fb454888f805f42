package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// benchStore is a new store with one session.
func benchStore(b *testing.B) *sessiondb.DB {
	d, err := Open(context.Background(), filepath.Join(b.TempDir(), "state.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	if _, err := d.CreateSession(context.Background(), sessiondb.NewSession{ID: "s", Source: "bench"}); err != nil {
		b.Fatal(err)
	}
	return d
}

var benchMessage = sessiondb.Message{
	Role: "user", Content: sessiondb.Text(strings.Repeat("the quick brown fox jumps over the lazy dog ", 10)),
}

func BenchmarkAppend(b *testing.B) {
	d := benchStore(b)
	for b.Loop() {
		if _, err := d.AppendMessage(context.Background(), "s", benchMessage); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendTogether appends from sixteen goroutines, which share commits.
func BenchmarkAppendTogether(b *testing.B) {
	d := benchStore(b)
	var wg sync.WaitGroup
	work := make(chan struct{})
	for range 16 {
		wg.Go(func() {
			for range work {
				if _, err := d.AppendMessage(context.Background(), "s", benchMessage); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	for b.Loop() {
		d, err := Open(context.Background(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		_ = d.Close()
	}
}

func BenchmarkOpenReadOnly(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	d, err := Open(context.Background(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	_ = d.Close()
	for b.Loop() {
		d, err := Open(context.Background(), path, Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		_ = d.Close()
	}
}
