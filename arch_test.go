package sessiondb_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sessiondb-go/sessiondb"

// rooms is the floor plan: each package, and which of our packages it may
// import. docs/architecture.md says why. "." is the root.
var rooms = map[string][]string{
	".":                    {"internal/engine", "internal/retry", "internal/searchql", "internal/text"},
	"sqlite":               {".", "internal/engine", "internal/retry", "internal/scan", "internal/searchql", "internal/sqlitefile", "internal/text", "internal/walvfs"},
	"postgres":             {".", "internal/engine", "internal/retry", "internal/scan", "internal/searchql", "internal/text"},
	"internal/sqlitefile":  {},
	"internal/walvfs":      {},
	"internal/scan":        {"internal/engine"},
	"internal/retry":       {},
	"internal/pgtest":      {}, // tests only
	"internal/browsertest": {}, // tests only
	"internal/engine":      {"internal/searchql"},
	"internal/searchql":    {},
	"internal/text":        {},
	"internal/redact":      {"internal/text"},
	"internal/term":        {},
	"internal/enginetest":  {".", "internal/fixture"},
	"internal/crashtest":   {}, // tests only
	"internal/fixture":     {},
	"internal/api":         {".", "internal/redact"},
	"internal/rpc":         {".", "internal/api"},
	"internal/foreign":     {"."},
	"internal/transcript":  {"."},
	"internal/highlight":   {},
	"internal/htmlview":    {".", "internal/highlight", "internal/transcript"},
	"internal/export":      {".", "internal/htmlview", "internal/term", "internal/transcript"},
	"internal/httpaccess":  {},
	"internal/browse":      {".", "internal/highlight", "internal/term", "internal/transcript"},
	"internal/mcp":         {".", "internal/transcript", "internal/httpaccess"},
	"internal/serve":       {".", "internal/api", "internal/export", "internal/httpaccess", "internal/htmlview", "internal/redact", "internal/term", "internal/transcript"},
	"internal/cli":         {".", "sqlite", "postgres", "internal/rpc", "internal/mcp", "internal/serve", "internal/httpaccess", "internal/api", "internal/redact", "internal/transcript", "internal/export", "internal/foreign", "internal/term", "internal/browse"},
	"cmd/sessiondb":        {"internal/cli"},
}

// guests are the third-party modules and the packages that may import them.
var guests = map[string][]string{
	"modernc.org/sqlite":                     {"sqlite", "internal/crashtest", "internal/walvfs"},
	"modernc.org/libc":                       {"internal/walvfs"},
	"github.com/jackc/pgx/v5":                {"postgres"},
	"golang.org/x/sys":                       {"sqlite", "internal/term"},
	"github.com/spf13/cobra":                 {"internal/cli"},
	"github.com/spf13/pflag":                 {"internal/cli"},
	"github.com/klauspost/compress":          {"internal/fixture"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/mcp"},
	"github.com/google/jsonschema-go":        {"internal/mcp"},
	"charm.land/bubbletea/v2":                {"internal/browse", "internal/cli"},
	"github.com/charmbracelet/colorprofile":  {"internal/browse"},
	"pgregory.net/rapid":                     {"internal/enginetest"},
	"github.com/google/go-cmp":               {"internal/enginetest"},
	"github.com/gomarkdown/markdown":         {"internal/htmlview"},
	"golang.org/x/term":                      {"internal/term"},
	"github.com/clipperhouse/displaywidth":   {"internal/term"},
	"github.com/rogpeppe/go-internal":        {}, // tests only
	"github.com/creack/pty":                  {}, // tests only
}

// testsOnly may stand in any test.
var testsOnly = []string{"github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "github.com/creack/pty", "github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go"}

// The size of things that still fit in a head.
const (
	maxFuncLines = 60
	maxFileLines = 500
	maxMethods   = 8 // of an interface
)

func TestFloorPlan(t *testing.T) {
	eachSource(t, func(dir, file string, fset *token.FileSet, f *ast.File) {
		allowed, ok := rooms[dir]
		if !ok {
			t.Errorf("%s: package %s has no room", file, dir)
			return
		}
		test := strings.HasSuffix(file, "_test.go")
		for _, imp := range f.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			switch rel, ours := strings.CutPrefix(p+"/", module+"/"); {
			case ours:
				if rel = path.Clean("./" + rel); !test && rel != dir && !slices.Contains(allowed, rel) {
					t.Errorf("%s: %s may not import %s", file, dir, rel)
				}
			case strings.Contains(strings.SplitN(p, "/", 2)[0], "."):
				if !guestAllowed(p, dir, test) {
					t.Errorf("%s: %s may not import %s", file, dir, p)
				}
			}
		}
	})
}

// Every library has a row that says why it is here.
func TestLibrariesExplained(t *testing.T) {
	plan := readFile(t, "docs/architecture.md")
	for guest := range guests {
		if !strings.Contains(plan, "\n| `"+guest+"` |") {
			t.Errorf("docs/architecture.md does not say why %s is used", guest)
		}
	}
}

func guestAllowed(p, dir string, test bool) bool {
	for guest, at := range guests {
		if p == guest || strings.HasPrefix(p, guest+"/") {
			return slices.Contains(at, dir) || test && slices.Contains(testsOnly, guest)
		}
	}
	return false
}

// A function that runs subtests or holds a table of them may be longer: each
// of its parts is short.
func TestSizes(t *testing.T) {
	eachSource(t, func(dir, file string, fset *token.FileSet, f *ast.File) {
		suite := strings.HasSuffix(file, "_test.go") || dir == "internal/enginetest"
		lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1 }
		if n := fset.Position(f.FileEnd).Line; n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", file, n, maxFileLines)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if l := lines(n); l > maxFuncLines && !suite {
					t.Errorf("%s: %s has %d lines, more than %d", file, n.Name.Name, l, maxFuncLines)
				}
			case *ast.InterfaceType:
				if l := n.Methods.NumFields(); l > maxMethods {
					t.Errorf("%s: an interface has %d methods, more than %d", file, l, maxMethods)
				}
			}
			return true
		})
	})
}

// eachSource parses every Go file of this module.
func eachSource(t *testing.T, fn func(dir, file string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, otherModule := os.Stat(filepath.Join(p, "go.mod"))
			if p != "." && (otherModule == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(filepath.Dir(p)), filepath.ToSlash(p), fset, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
