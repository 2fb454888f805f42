package sessiondb_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

var update = flag.Bool("update", false, "write the table of findings in docs/operations.md")

// The table of findings in docs/operations.md is the one in the code; -update
// writes it.
func TestOperationsNamesFindings(t *testing.T) {
	const file, begin, end = "docs/operations.md", "<!-- findings -->\n", "<!-- end -->"
	doc := readFile(t, file)
	head, rest, ok := strings.Cut(doc, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", file)
	}
	var b strings.Builder
	b.WriteString("| code | severity | what it means | what mends it |\n|---|---|---|---|\n")
	for _, k := range sessiondb.FindingKinds() {
		fix := "`" + strings.ReplaceAll(k.Fix, " --db FILE", "") + "`"
		if k.Fix == "" {
			fix = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Code, k.Severity, k.Means, cmp.Or(fix, k.Advice))
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != doc {
		t.Errorf("%s is not what the table says; run go test . -run Findings -update", file)
	}
}
