package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManualPages holds the manual pages to --help: each command that one lists
// has a page, with each of its flags and nothing else.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	run(t, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	left := map[string]bool{}
	for _, p := range pages {
		left[strings.TrimSuffix(filepath.Base(p), ".1")] = true
	}
	comparePages(t, dir, left)
	for name := range left {
		t.Errorf("%s has a page, and no help leads to it", name)
	}
}

var (
	helpFlag    = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[\w-]+)`)
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]\S*) +\S`)
)

// comparePages compares the page of a command, and of those below it.
func comparePages(t *testing.T, dir string, left map[string]bool, path ...string) {
	t.Helper()
	help := string(run(t, append(path, "--help")...))
	name := strings.Join(append([]string{"sessiondb"}, path...), "-")
	delete(left, name)
	b, err := os.ReadFile(filepath.Join(dir, name+".1"))
	if err != nil {
		t.Error(err)
		return
	}
	page := strings.ReplaceAll(string(b), `\-`, "-")
	flags := map[string]bool{}
	_, options, _ := strings.Cut(help, "Flags:\n")
	for _, f := range helpFlag.FindAllStringSubmatch(options, -1) {
		flags[f[1]] = true
	}
	for _, line := range regexp.MustCompile(`(?m)^\.TP\n\.B (.*)$`).FindAllStringSubmatch(page, -1) {
		flag := regexp.MustCompile(`--[\w-]+`).FindString(line[1])
		if !flags[flag] {
			t.Errorf("%s: the page has %s, --help has not", name, flag)
		}
		delete(flags, flag)
	}
	for flag := range flags {
		t.Errorf("%s: --help has %s, the page has not", name, flag)
	}
	_, commands, _ := strings.Cut(help, "Available Commands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for _, c := range helpCommand.FindAllStringSubmatch(commands, -1) {
		if c[1] != "help" {
			comparePages(t, dir, left, append(path[:len(path):len(path)], c[1])...)
		}
	}
}
