package sessiondb_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOperationsNamesErrors holds docs/operations.md to errors.go: every error
// has a row, and every row an error.
func TestOperationsNamesErrors(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			declared[v.Names[0].Name] = true
		}
		return true
	})
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(Err\\w+)` \\|").FindAllStringSubmatch(readFile(t, "docs/operations.md"), -1) {
		documented[row[1]] = true
	}
	for name := range declared {
		if !documented[name] {
			t.Errorf("docs/operations.md does not say what to do about %s", name)
		}
	}
	for name := range documented {
		if !declared[name] {
			t.Errorf("docs/operations.md explains %s, which does not exist", name)
		}
	}
}

// TestFormatNamesColumns holds docs/format.md to the schema.
func TestFormatNamesColumns(t *testing.T) {
	doc := readFile(t, "docs/format.md")
	schema := readFile(t, "sqlite/schema.sql")
	for _, table := range []string{"sessions", "messages"} {
		_, columns, ok := strings.Cut(schema, "CREATE TABLE IF NOT EXISTS "+table+" (\n")
		if columns, _, _ = strings.Cut(columns, "\n);"); !ok {
			t.Fatalf("no table %s in the schema", table)
		}
		_, section, _ := strings.Cut(doc, "\n### "+table+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		for line := range strings.Lines(columns) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name != "FOREIGN" && !strings.Contains(section, "`"+name+"`") {
				t.Errorf("docs/format.md does not say what %s.%s is", table, name)
			}
		}
	}
}

// TestFormatNamesAdditions holds docs/format.md to what the sources put into a
// file under a name of ours: tables, indexes, and keys of state_meta.
func TestFormatNamesAdditions(t *testing.T) {
	doc := readFile(t, "docs/format.md")
	ours := regexp.MustCompile(`(?:IF NOT EXISTS |Key = ")(sessiondb_\w+)`)
	for _, pattern := range []string{"*.go", "sqlite/*.go", "sqlite/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range ours.FindAllStringSubmatch(readFile(t, file), -1) {
				if !strings.Contains(doc, "`"+name[1]) {
					t.Errorf("docs/format.md does not explain %s of %s", name[1], file)
				}
			}
		}
	}
}
