package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"":                   0,
		"plain":              5,
		"배포":                 4,
		"広西 x":               6,
		"é":                  1, // e and a combining accent
		"👨‍👩‍👧":              2,
		"🇰🇷":                 2,
		"ｗｉｄｅ":               8,
		"\u1112\u1161\u11ab": 2, // Hangul in conjoining letters
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"plain", 5, "plain"},
		{"plain", 4, "pla…"},
		{"배포 일정", 9, "배포 일정"},
		{"배포 일정", 8, "배포 일…"},
		{"배포 일정", 7, "배포 …"}, // a wide character is not split
		{"배포", 1, "…"},
		{"배포", 0, ""},
		{"👨‍👩‍👧 family", 4, "👨‍👩‍👧 …"},
	} {
		if got := Cut(c.s, c.width); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"one two three", 80, "one two three"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"배포는 목요일에", 6, "배포는|목요일|에"},
		{"", 5, ""},
		{"a b", 0, "a b"},
	} {
		if got := strings.Join(Wrap(c.line, c.width), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two 배포 three", 7)
	f.Add("👨‍👩‍👧 👨‍👩‍👧", 3)
	f.Fuzz(func(t *testing.T, line string, width int) {
		if width < 2 || width > 200 || !utf8.ValidString(line) {
			t.Skip()
		}
		line = Line(line)
		parts := Wrap(line, width)
		for _, p := range parts {
			if w := Width(p); w > width && !oneCharacter(p) {
				t.Errorf("%q takes %d cells, more than %d", p, w, width)
			}
		}
		if got, want := strings.ReplaceAll(strings.Join(parts, ""), " ", ""), strings.ReplaceAll(line, " ", ""); got != want {
			t.Errorf("Wrap lost text: %q, want %q", got, want)
		}
	})
}

// oneCharacter reports whether s can't be broken: a cluster may be wider than
// any line.
func oneCharacter(s string) bool { return Cut(s, Width(s)-1) == "…" }
