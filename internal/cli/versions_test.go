package cli_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestReadingWritesNothing reads the stores of every schema version and looks
// whether the file is still the same, byte for byte.
func TestReadingWritesNothing(t *testing.T) {
	for _, name := range fixture.Names(t, "fixtures") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fixture.Copy(t, name)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"list", "--all"}, {"show", "20260423"}, {"lineage", "20260423"}, {"stats"},
				{"search", "docker"}, {"export", "20260423"}, {"prune", "--dry-run"}, {"__complete", "show", ""},
			} {
				if out := run(t, append(args, "--db", path)...); len(out) == 0 {
					t.Errorf("%s printed nothing", args)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}
