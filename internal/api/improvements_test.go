package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

var update = flag.Bool("update", false, "write the differences found into the table of improvements; the reasons stay to be judged")

// improvements is the table of answers that differ from the recorded ones on
// purpose. The whole difference is listed, so that an answer can neither get
// worse unseen nor stay listed when it is as recorded.
type improvements struct {
	path string

	// Reasons are sentences, by a short name.
	Reasons map[string]string `json:"reasons"`
	// Cases are the differences of each case and the names of their reasons.
	Cases map[string]improved `json:"cases"`
}

type improved struct {
	Why         []string `json:"why"`
	Differences []string `json:"differences"`
}

const (
	improvementsFile = "testdata/golden-improvements.json"

	// searchImprovementsFile is the table of the searches: the reason by case.
	searchImprovementsFile = "../../testdata/golden-search-improvements.json"
)

func readImprovements(t *testing.T) *improvements {
	t.Helper()
	i := &improvements{path: improvementsFile}
	readJSON(t, i.path, i)
	return i
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// check compares the differences of a case with those it is to have.
func (i *improvements) check(t *testing.T, c fixture.Case, diff []string) {
	t.Helper()
	want := i.Cases[c.Case]
	switch {
	case slices.Equal(diff, want.Differences):
		for _, why := range want.Why {
			if i.Reasons[why] == "" {
				t.Errorf("no reason is named %q", why)
			}
		}
		if len(diff) > 0 && len(want.Why) == 0 {
			t.Errorf("no reason is given for %q", diff)
		}
	case *update:
		i.set(c.Case, diff)
	default:
		t.Errorf("%s %s\n got %q\nlisted as better: %q", c.Call, jsonOf(c.Args), diff, want.Differences)
	}
}

func (i *improvements) set(name string, diff []string) {
	if diff == nil {
		delete(i.Cases, name)
		return
	}
	if i.Cases == nil {
		i.Cases = map[string]improved{}
	}
	i.Cases[name] = improved{Why: i.Cases[name].Why, Differences: diff}
}

// finish writes the table, if that was asked for.
func (i *improvements) finish(t *testing.T) {
	t.Helper()
	if !*update {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(i); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(i.path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// searchImprovements are the reasons why the answer of a search differs.
type searchImprovements map[string]string

func readSearchImprovements(t *testing.T) (s searchImprovements) {
	t.Helper()
	readJSON(t, searchImprovementsFile, &s)
	return s
}

func (s searchImprovements) check(t *testing.T, c fixture.Case, diff []string) {
	t.Helper()
	switch reason, listed := s[c.Case]; {
	case diff != nil && !listed:
		t.Errorf("%s: %.2000q", jsonOf(c.Args), diff)
	case diff == nil && listed:
		t.Errorf("%s: the answer is as recorded; it is listed as better: %s", jsonOf(c.Args), reason)
	case listed && reason == "":
		t.Error("no reason is given")
	}
}

// Every entry of the tables is one of a recorded case.
func TestImprovementsAreOfCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range fixture.Golden(t) {
		names[c.Case] = true
	}
	for name := range readImprovements(t).Cases {
		if !names[name] {
			t.Errorf("%s is listed as better, but there is no such case", name)
		}
	}
	for name := range readSearchImprovements(t) {
		if !names[name] {
			t.Errorf("%s is listed as better, but there is no such case", name)
		}
	}
}
