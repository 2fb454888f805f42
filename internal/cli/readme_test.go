package cli

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// TestCommandsInReadme compares the table of commands with the commands.
func TestCommandsInReadme(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{"help": true}
	for _, m := range regexp.MustCompile("(?m)^\\| `sessiondb ([a-z]+)` \\|").FindAllStringSubmatch(string(b), -1) {
		documented[m[1]] = true
	}
	a := &app{Streams: term.System(true), env: os.Getenv, now: time.Now}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	have := map[string]bool{}
	for _, c := range root.Commands() {
		have[c.Name()] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(have))); diff != "" {
		t.Errorf("README (-), commands (+):\n%s", diff)
	}
}
