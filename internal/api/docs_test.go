package api_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

const docsFile = "../../docs/rpc.md"

// The tables in docs/rpc.md are made of the table of methods and that of
// errors; -update writes them.
func TestDocs(t *testing.T) {
	have, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := have
	for name, table := range map[string]string{"methods": methodsTable(), "errors": errorsTable()} {
		want = between(t, want, "<!-- "+name+" -->\n", "<!-- end -->", table)
	}
	if *update {
		if err := os.WriteFile(docsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(have, want) {
		t.Error("docs/rpc.md is not what the tables say; run go test ./internal/api -run Docs -update")
	}
}

func between(t *testing.T, text []byte, begin, end, put string) []byte {
	t.Helper()
	head, rest, ok := bytes.Cut(text, []byte(begin))
	_, tail, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		t.Fatalf("%s lacks %s", docsFile, begin)
	}
	return []byte(string(head) + begin + put + end + string(tail))
}

func methodsTable() string {
	var b strings.Builder
	b.WriteString("| method | parameters | |\n|---|---|---|\n")
	for _, m := range api.Methods {
		var params []string
		for _, p := range m.Params() {
			params = append(params, signature(p))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s Gives %s. |\n", m.Name, strings.Join(params, ", "), m.Doc, m.Result)
	}
	return b.String()
}

func signature(p api.Param) string {
	s := "`" + p.Name
	switch {
	case p.Default != nil:
		s += "=" + string(p.Default)
	case !p.Required:
		s += "?"
	}
	s += "`"
	if p.NullMeans != "" {
		s += " (null: " + p.NullMeans + ")"
	}
	return s
}

func errorsTable() string {
	var b strings.Builder
	b.WriteString("| kind | code | when |\n|---|---|---|\n")
	for _, k := range api.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", k.Kind, k.Code, k.When)
	}
	return b.String()
}
