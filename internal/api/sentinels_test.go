package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
)

// sentinels are the errors of the library by name.
var sentinels = map[string]error{
	"ErrNotStore":     sessiondb.ErrNotStore,
	"ErrSchemaNewer":  sessiondb.ErrSchemaNewer,
	"ErrCorrupt":      sessiondb.ErrCorrupt,
	"ErrNotFound":     sessiondb.ErrNotFound,
	"ErrAmbiguous":    sessiondb.ErrAmbiguous,
	"ErrExists":       sessiondb.ErrExists,
	"ErrTitleTaken":   sessiondb.ErrTitleTaken,
	"ErrTitleInvalid": sessiondb.ErrTitleInvalid,
	"ErrReferenced":   sessiondb.ErrReferenced,
	"ErrInvalid":      sessiondb.ErrInvalid,
	"ErrBusy":         sessiondb.ErrBusy,
	"ErrFull":         sessiondb.ErrFull,
	"ErrIO":           sessiondb.ErrIO,
	"ErrConnection":   sessiondb.ErrConnection,
	"ErrUncertain":    sessiondb.ErrUncertain,
	"ErrReplaced":     sessiondb.ErrReplaced,
	"ErrOtherLog":     sessiondb.ErrOtherLog,
	"ErrReadOnly":     sessiondb.ErrReadOnly,
	"ErrClosed":       sessiondb.ErrClosed,

	// Of a copy from store to store, which no method makes.
	"ErrNotEmpty":      nil,
	"ErrUncopied":      nil,
	"ErrSourceChanges": nil,
}

// Every error that the library names has a kind, or can't come out of a method.
func TestSentinelsHaveKinds(t *testing.T) {
	declared := declaredErrors(t)
	if named := slices.Sorted(maps.Keys(sentinels)); !slices.Equal(declared, named) {
		t.Errorf("the library declares %v, and this test knows %v", declared, named)
	}
	for name, err := range sentinels {
		if err != nil && api.Explain(err).Kind == "internal" {
			t.Errorf("%s has no kind", name)
		}
	}
}

// declaredErrors are the names of the exported errors in the root's source.
func declaredErrors(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				names = append(names, errorsIn(g)...)
			}
		}
	}
	slices.Sort(names)
	return names
}

func errorsIn(g *ast.GenDecl) (names []string) {
	for _, s := range g.Specs {
		for _, n := range s.(*ast.ValueSpec).Names {
			if strings.HasPrefix(n.Name, "Err") {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
