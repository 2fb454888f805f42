package sqlite

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestVersion11Statements does what a program does that knows schema version 11
// and nothing of layouts, by another release of SQLite, on both layouts: every
// statement works, sees the same, and leaves indexes that say what the messages
// say.
func TestVersion11Statements(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	seen := map[engine.Layout]string{}
	for _, l := range []engine.Layout{engine.Inline, engine.External} {
		path := fixture.Copy(t, "hermes-v11.db")
		run(t, raw(t, path), "UPDATE messages SET content = substr(content, 2) WHERE instr(content, char(0)) = 1")
		relaid(t, path, l)
		schema := schemaOf(t, path)
		out, err := exec.CommandContext(t.Context(), python, "testdata/version11.py", path, "schema.sql").Output()
		if exit, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%s: %v: %s", l, err, exit.Stderr)
		}
		seen[l] = string(out)
		if diff := cmp.Diff(schema, schemaOf(t, path)); diff != "" {
			t.Errorf("%s: schema:\n%s", l, diff)
		}
		open(t, path, Options{})
		if diff := cmp.Diff(schema, schemaOf(t, path)); diff != "" {
			t.Errorf("%s: schema after an open:\n%s", l, diff)
		}
		sound(t, path)
	}
	want, got := strings.Split(seen[engine.Inline], "\n"), strings.Split(seen[engine.External], "\n")
	if len(want) < 100 {
		t.Errorf("only %d answers", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inline (-), external (+):\n%s", diff)
	}
}
