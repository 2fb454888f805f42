package redact_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/redact"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func open(t testing.TB, name string) *sessiondb.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, name), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// The stores of other programs hold ids, hashes, code and talk in many
// languages, and no secret: nothing is masked.
func TestNothingInTheFixtures(t *testing.T) {
	for _, name := range fixture.Names(t, "fixtures") {
		db := open(t, name)
		var plain, masked bytes.Buffer
		r := redact.New()
		for _, x := range []struct {
			w io.Writer
			f sessiondb.ExportFilter
		}{{&plain, sessiondb.ExportFilter{}}, {&masked, sessiondb.ExportFilter{Redact: r.Session}}} {
			if _, err := db.ExportAll(t.Context(), x.w, x.f); err != nil {
				t.Fatal(err)
			}
		}
		if counts := r.Counts(); len(counts) > 0 || !bytes.Equal(plain.Bytes(), masked.Bytes()) {
			t.Errorf("%s: %v", name, counts)
		}
	}
}

// What an export costs with and without.
func BenchmarkExport(b *testing.B) {
	db := open(b, "hermes-v11.db")
	var size counter
	if _, err := db.ExportAll(b.Context(), &size, sessiondb.ExportFilter{}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    func() sessiondb.ExportFilter
	}{
		{"plain", func() sessiondb.ExportFilter { return sessiondb.ExportFilter{} }},
		{"redacted", func() sessiondb.ExportFilter { return sessiondb.ExportFilter{Redact: redact.New().Session} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := db.ExportAll(b.Context(), io.Discard, c.f()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
