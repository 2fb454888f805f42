package sessiondb_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// openers are what gives a file descriptor, by the package that has it.
var openers = map[string][]string{
	"os": {
		"Open", "OpenFile", "OpenInRoot", "OpenRoot", "Create", "CreateTemp", "ReadFile", "WriteFile", "Truncate", "DirFS", "CopyFS", "NewFile",
	},
	"io/ioutil":             {"ReadFile", "WriteFile", "TempFile"},
	"syscall":               {"Open", "Openat", "Creat", "Truncate", "Mmap"},
	"golang.org/x/sys/unix": {"Open", "Openat", "Openat2", "Creat", "Truncate", "Mmap"},
}

// opensFiles are the functions that open files with ordinary calls, and why
// that drops no lock: POSIX takes the locks of a process on a file away when it
// closes any descriptor of it. What a store consists of is opened through SQLite
// alone while this process has it open.
var opensFiles = map[string]string{
	"..openSessionFiles":                  "a folder",
	"internal/cli.(*whenRead).Read":       "notOfStore refuses a file of the store",
	"internal/cli.(*app).manCommand":      "a manual page; no store is open",
	"internal/cli.openedAgain":            "notOfStore refuses a file of the store",
	"internal/cli.syncFolder":             "a folder",
	"internal/cli.writeDirectly":          "no regular file",
	"internal/cli.writeFile":              "a new file",
	"internal/pgtest.(*Pair).KillPrimary": "a file of the server",
	"postgres.(*store).Backup":            "a new file",
	"sqlite.(*store).private":             "a new file, which gives SQLite its mode and no more",
	"sqlite.(*wreck).open":                "openSource refuses a file that this process has open",
	"sqlite.abandoned":                    "the lock of a stage, which is none of SQLite's",
	"sqlite.(*store).tryLog":              "a new file, empty and closed before SQLite sees it",
	"sqlite.commandOf":                    "a file of the system",
	"sqlite.copyFile":                     "within unlessOpenHere, or of what SQLite can't open",
	"sqlite.holders":                      "a file of the system",
	"sqlite.moveSlowly":                   "makes a new file, or fails",
	"sqlite.newStage":                     "new files; the copy is closed after SQLite is done with it",
	"sqlite.readNote":                     "the file of the queue, which SQLite does not know",
	"sqlite.ownFile":                      "the file of the queue, which SQLite does not know",
	"sqlite.readHeader":                   "within unlessOpenHere",
	"sqlite.syncDir":                      "a folder",
	"sqlite.syncFile":                     "a copy that no connection has open any more",
}

// No package opens a database, its log or its shared memory with ordinary calls
// but in the places above.
func TestWhoOpensFiles(t *testing.T) {
	used := map[string]bool{}
	eachSource(t, func(dir, file string, fset *token.FileSet, f *ast.File) {
		if strings.HasSuffix(file, "_test.go") || dir == "internal/enginetest" || dir == "internal/fixture" || strings.HasPrefix(dir, "tools") {
			return
		}
		names := openerNames(t, file, f)
		for _, d := range f.Decls {
			where := dir + "." + declName(d)
			ast.Inspect(d, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := sel.X.(*ast.Ident)
				if !ok || !slices.Contains(names[pkg.Name], sel.Sel.Name) {
					return true
				}
				if used[where] = true; opensFiles[where] == "" {
					t.Errorf("%s: %s.%s in %s: a file that SQLite may have open must not be opened so; say in opensFiles why it is none",
						fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name, where)
				}
				return true
			})
		}
	})
	for _, where := range slices.Sorted(maps.Keys(opensFiles)) {
		if !used[where] {
			t.Errorf("%s opens no file: take it out of opensFiles", where)
		}
	}
}

// openerNames are the openers by the name that a file has for their package.
func openerNames(t *testing.T, file string, f *ast.File) map[string][]string {
	names := map[string][]string{}
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		functions, ok := openers[p]
		if !ok {
			continue
		}
		name := p[strings.LastIndex(p, "/")+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if name == "." {
			t.Errorf("%s: import %s by its name, so that its calls can be seen", file, p)
		}
		names[name] = functions
	}
	return names
}

// declName is the name of a declaration, with its receiver.
func declName(d ast.Decl) string {
	fn, ok := d.(*ast.FuncDecl)
	if !ok {
		return "a variable"
	}
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		if id, ok := star.X.(*ast.Ident); ok {
			return "(*" + id.Name + ")." + fn.Name.Name
		}
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}
