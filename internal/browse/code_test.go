package browse

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

// What is code, and which lines are fences: as CommonMark has it, but at any depth.
func TestFences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\n```\nb\n```\nc", "p f c f p"},
		{"```go\nb\n```c\n```\nd", "f c c f p"},              // a fence with something behind it closes none
		{"````\n```\nb\n```\n````\nc", "f c c c f p"},        // nor does a shorter one
		{"```\nb\n`````  \nc", "f c f p"},                    // a longer one does
		{"~~~\n```\n~~~\nc", "f c f p"},                      // nor one of the other kind
		{"```\n~~~\n```\nc", "f c f p"},                      //
		{"```\nb\n    ```\n   ```\nc", "f c c f p"},          // nor one further in
		{"``\nb", "p p"},                                     // too short
		{"```a`b```\nb", "p p"},                              // code within a line
		{"~~~ a`b\nb\n~~~", "f c f"},                         //
		{"```\nb\n\nc", "f c c c"},                           // never closed
		{"1. ```sh\n   b\n   ```\nc", "f c f p"},             // in a list
		{"- a\n\n    ```\n    b\n    ```\nc", "p p f c f p"}, //
		{"> ```\n> b\n> ```\nc", "f c f p"},                  // in a quotation
		{"> ```\n> b\nc", "f c p"},                           // which ends
		{"```\n> ```\n```\nc", "f c f p"},                    // a quotation in code is code
		{"```\n```\n```\n```", "f f f f"},                    // nothing in between
		{"use ``` here\nb", "p p"},                           //
		{"```\r\nb\r\n```\r\nc\r\n", "f c f p"},              // as Windows writes it
		{"\t```\n\tb\n\t```\nc", "f c f p"},                  //
		{"- ```\n  b\n  ```\n- ```\n  c\n  ```\nd", "f c f f c f p"},
	} {
		var got []string
		for rest := linesOf(c.text, sessiondb.Span{End: len(c.text)}, nil); len(rest) > 0; {
			f, ok := fenceOf(rest[0].text)
			if rest = rest[1:]; !ok {
				got = append(got, "p")
				continue
			}
			n, closed := f.code(rest)
			got = append(append(got, "f"), strings.Split(strings.Repeat("c", n), "")...)
			if rest = rest[n:]; closed {
				got, rest = append(got, "f"), rest[1:]
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestCodeIsPainted(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		words []string
		want  string // ( begins a style and ) ends it
	}{
		{"```go\nif x // y\n```", 20, nil, "(36)```go.\n(35)if. x (2)// y.\n(36)```."},
		{"```go\nif x == \"a b\"\n```", 6, nil, "(36)```go.\n(35)if. x\n== (32)\"a.\n(32)b\".\n(36)```."},
		{"```go\nif \"abcd\"\n```", 20, []string{"f \"ab"}, "(36)```go.\n(35)i.(1;30;43)f \"ab.(32)cd\".\n(36)```."},
		{"```diff\n+a\n-b\n c\n```", 20, nil, "(36)```diff.\n(32)+a.\n(31)-b.\n c\n(36)```."},
		{"```klingon\nif x\n```", 20, nil, "(36)```klingon.\n(36)if x.\n(36)```."},
		{"```json\n{\"가\": 1}", 3, nil, "(36)```.\n(36)jso.\n(36)n.\n{(36)\".\n(36)가\".\n:\n(33)1.}"},
		{"if x\n", 20, nil, "if x"},
	} {
		m := &model{o: Options{Color: true}}
		got := m.drawn(c.text, c.width, c.words...)
		if got = strings.NewReplacer("\x1b[0m", ".", "\x1b[", "(", "m", ")").Replace(got); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
		m.o.Color = false
		if got := m.drawn(c.text, c.width); strings.Contains(got, "\x1b") {
			t.Errorf("without colours %q", got)
		}
	}
}

// drawn are the lines of a text, where words are matches.
func (m *model) drawn(text string, width int, words ...string) string {
	var found []sessiondb.Span
	for _, w := range words {
		for at := 0; w != ""; {
			i := strings.Index(text[at:], w)
			if i < 0 {
				break
			}
			found = append(found, sessiondb.Span{Start: at + i, End: at + i + len(w)})
			at += i + len(w)
		}
	}
	s := &sheet{width: width}
	s.prose(linesOf(text, sessiondb.Span{End: len(text)}, found))
	var out []string
	for _, l := range s.lines {
		out = append(out, m.draw(l.shown, false))
	}
	return strings.Join(out, "\n")
}

// Colours change no text and no width, and nothing of a text is obeyed.
func FuzzProse(f *testing.F) {
	for _, s := range []string{
		"```go\nfunc \x1b[2J() { \"\x1b]0;x\a\" } // \u009b31m \u202e가나다\n```", "~~~json\n{\"a\": \"\x1b[31m\", \"b\":   1}\n~~~", "> ```sh\n> a  'b   c'\n",
		"```html\n<p \x1b[0m='👩‍👩‍👧'>\xff\n", "```diff\n+\x1b[32m\n-\r\n", "1. ```py\n   '''\n   é́ # \x00\n   ```", "```go\n\"\u0301\" \u0301 1\u0301",
	} {
		f.Add(s, 7, "a")
		f.Add(s, 0, "\" ")
	}
	f.Fuzz(func(t *testing.T, text string, width int, word string) {
		width = 1 + (width&0xffff)%200
		word = strings.ToValidUTF8(word, "") // no match begins within a character
		split := func(drawn string) []string { return strings.Split(drawn, "\n") }
		plain, m := &model{}, &model{o: Options{Color: true}}
		want, got, marked := split(plain.drawn(text, width)), split(m.drawn(text, width)), split(m.drawn(text, width, word))
		if len(got) != len(want) || len(marked) != len(want) {
			t.Fatalf("%d lines, with colours %d, with marks %d", len(want), len(got), len(marked))
		}
		for i, l := range want {
			if term.Width(l) > width || term.Line(l) != l {
				t.Errorf("%q on %d cells", l, width)
			}
			for _, painted := range []string{got[i], marked[i]} {
				if bare := sequence.ReplaceAllString(painted, ""); bare != l {
					t.Errorf("%q became %q", l, painted)
				}
			}
		}
	})
}
