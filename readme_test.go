package sessiondb_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program in the README is compiled and run as a reader would run it.
func TestReadmeProgram(t *testing.T) {
	_, program, ok := strings.Cut(readFile(t, "README.md"), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	if !ok {
		t.Fatal("README.md has no Go program")
	}
	want := regexp.MustCompile(`fmt\.Println\(.*\) // (.*)`).FindStringSubmatch(program)
	if want == nil {
		t.Fatal("the program in README.md does not say what it prints")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "program.exe")
	if out, err := exec.Command("go", "build", "-o", bin, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(bin)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != want[1] {
		t.Errorf("the program printed %q, %v; README.md says %q", got, err, want[1])
	}
}

// Links between documents lead somewhere.
func TestLinks(t *testing.T) {
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, doc := range append(docs, "README.md", "CONTRIBUTING.md") {
		for _, m := range link.FindAllStringSubmatch(readFile(t, doc), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", doc, m[1], err)
			}
		}
	}
}
