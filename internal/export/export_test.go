package export

import "testing"

func TestNamed(t *testing.T) {
	for file, want := range map[string]string{
		"a.jsonl": JSONL, "a.json": JSONL, "a.md": Markdown, "dir.md/a.MD": Markdown, "a.markdown": Markdown, "a.html": HTML, "a.htm": HTML,
		"a": JSONL, "a.txt": JSONL, "dir.md/a": JSONL, "md": JSONL, "": JSONL,
	} {
		if got := Named(file); got != want {
			t.Errorf("%q is %s, want %s", file, got, want)
		}
	}
	for _, format := range Formats {
		if got := Named("a" + Suffix(format)); got != format {
			t.Errorf("%s ends with %s, which is %s", format, Suffix(format), got)
		}
	}
}
