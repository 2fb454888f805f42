package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestDocumentedKeys compares the keys that docs/json.md promises with those
// that the commands print.
func TestDocumentedKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	store := fixture.Copy(t, "hermes-v11.db")
	exported := filepath.Join(t.TempDir(), "export.jsonl")
	run(t, "export", "--db", store, "-o", exported)
	copied := filepath.Join(t.TempDir(), "copy", "state.db")
	trash := fixture.Copy(t, "hermes-v11.db")
	for _, title := range []string{"refactor auth #4", "picture of a cat"} {
		run(t, "delete", title, "--yes", "--keep-files", "--db", trash)
	}
	sections := documented(t)
	compared := map[string]bool{}
	for _, c := range []struct {
		section string
		args    []string
	}{
		{"list --json", []string{"list", "--all", "--json"}},
		{"show --json", []string{"show", "picture of a cat", "--json"}},
		{"search --json", []string{"search", "docker", "--json"}},
		{"search --grouped --json", []string{"search", "docker", "--grouped", "--json"}},
		{"search --count --json", []string{"search", "docker", "--count", "--json"}},
		{"resume --json", []string{"resume", "reasoning traces", "--json"}},
		{"lineage --json", []string{"lineage", "refactor auth", "--json"}},
		{"fork --json", []string{"fork", "refactor auth", "--json", "--db", fixture.Copy(t, "hermes-v11.db")}},
		{"tag --json", []string{"tag", "fill_15_0d", "+work", "--json", "--db", trash}},
		{"tag list --json", []string{"tag", "list", "--json", "--db", trash}},
		{"usage --json", []string{"usage", "--json"}},
		{"usage --by top --json", []string{"usage", "--by", "top", "--json"}},
		{"stats --json", []string{"stats", "--json"}},
		{"space of stats --json", []string{"stats", "--space", "--json"}},
		{"compact --json", []string{"compact", "--json"}},
		{"doctor --json", []string{"doctor", "--json", "--db", fixture.Copy(t, "hermes-v11.db")}},
		{"version --json", []string{"version", "--json"}},
		{"export", []string{"export", "refactor auth"}},
		{"delete --json and prune --json", []string{"delete", "refactor auth", "--dry-run", "--json"}},
		{"delete --json and prune --json", []string{"prune", "--dry-run", "--json"}},
		{"trash list --json", []string{"trash", "list", "--json", "--db", trash}},
		{"trash restore --json", []string{"trash", "restore", "refactor auth", "--json", "--db", trash}},
		{"trash empty --json", []string{"trash", "empty", "--yes", "--json", "--db", trash}},
		{"recover --json", []string{"recover", store, filepath.Join(t.TempDir(), "new.db"), "--json"}},
		{"backup --json", []string{"backup", filepath.Join(t.TempDir(), "b.db"), "--json"}},
		{"restore --json", []string{"restore", fixture.Copy(t, "hermes-v10.db"), "--json", "--dry-run"}},
		{"copy --json", []string{"copy", "--from", fixture.Copy(t, "hermes-v11.db"), "--to", filepath.Join(t.TempDir(), "copy.db"), "--json"}},
		{"import --json and merge --json", []string{"import", exported, "--json", "--db", copied}},
		{"import --json and merge --json", []string{"merge", store, "--json", "--db", copied}},
	} {
		compared[c.section] = true
		keys, ok := sections[c.section]
		if !ok {
			t.Errorf("docs/json.md has no section %q", c.section)
			continue
		}
		args := c.args
		if !slices.Contains(args, "--db") && args[0] != "copy" {
			args = append(args, "--db", store)
		}
		out := run(t, args...)
		if name, _, ok := strings.Cut(c.section, " of "); ok {
			out = member(t, name, out)
		}
		checkKeys(t, c.section, keys, out)
	}
	for name := range sections {
		if !compared[name] && name != "session" && name != "message" {
			t.Errorf("docs/json.md: nothing is compared with %q", name)
		}
	}
}

// checkKeys holds every line to the documented keys: all but the optional ones
// are there, and no others.
func checkKeys(t *testing.T, section string, keys map[string]bool, out []byte) {
	t.Helper()
	lines := 0
	for line := range bytes.Lines(out) {
		lines++
		var have map[string]json.RawMessage
		if err := json.Unmarshal(line, &have); err != nil {
			t.Errorf("%s: %v", section, err)
			return
		}
		want := maps.Clone(keys)
		for k, optional := range want {
			if _, ok := have[k]; optional && !ok {
				delete(want, k)
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(have))); diff != "" {
			t.Errorf("%s: documented (-), printed (+):\n%s", section, diff)
			return
		}
	}
	if lines == 0 {
		t.Errorf("%s printed nothing", section)
	}
}

// member is the value of a key of a line.
func member(t *testing.T, key string, line []byte) []byte {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatal(err)
	}
	return all[key]
}

var keyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*) \\|")

// documented reads docs/json.md: for each section the keys, and which of them
// are optional. A section that speaks of one of another's begins with its keys.
func documented(t *testing.T) map[string]map[string]bool {
	t.Helper()
	b, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for part := range strings.SplitSeq(string(b), "\n## ") {
		head, body, _ := strings.Cut(part, "\n")
		keys := map[string]bool{}
		for _, other := range []string{"session", "message"} {
			if strings.Contains(body, "One ["+other+"](#"+other+")") {
				maps.Copy(keys, out[other])
			}
		}
		for _, m := range keyRow.FindAllStringSubmatch(body, -1) {
			keys[m[1]] = strings.Contains(m[2], "optional")
		}
		if len(keys) > 0 {
			out[strings.ReplaceAll(head, "`", "")] = keys
		}
	}
	return out
}

// run runs the program and returns what it printed.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("sessiondb", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("sessiondb %s: %v: %.300s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}
