package sessiondb

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Whoever adds a table to the store adds it to copies.
func TestCopyTables(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`addedTable\{"(\w+)"`)
	n := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made.FindAllSubmatch(source, -1) {
			n++
			if !slices.ContainsFunc(copyTables, func(c *copyTable) bool { return c.name == string(m[1]) }) {
				t.Errorf("%s: copyTables has no %s", file, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no table was found")
	}
}
