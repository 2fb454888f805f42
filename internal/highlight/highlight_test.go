package highlight

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// marked shows spans as letters around their text.
func marked(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Kind == Plain {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString("[" + "-csknt+~"[s.Kind:s.Kind+1] + ":" + s.Text + "]")
	}
	return b.String()
}

func TestCode(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"go", "func f() { return \"a\\\"b\" } // x\n1.5", "[k:func] f() { [k:return] [s:\"a\\\"b\"] } [c:// x]\n[n:1.5]"},
		{"Go", "`a\n\\` + '\\'' + 'ä' /* b\n*/ x1", "[s:`a\n\\`] + [s:'\\''] + [s:'ä'] [c:/* b\n*/] x1"},
		{"go", "/* never ends\nfunc", "[c:/* never ends\nfunc]"},
		{"rust", "fn f<'a>(x: &'a str) -> '\\u{1f600}' \"a\nb\"", "[k:fn] f<'a>(x: &'a [k:str]) -> [s:'\\u{1f600}'] [s:\"a\nb\"]"},
		{"py", "def f(): '''a\n'b''' # don't\nx = 'c' if 0xff", "[k:def] f(): [s:'''a\n'b'''] [c:# don't]\nx = [s:'c'] [k:if] [n:0xff]"},
		{"python", "it's\n'fine'", "it's\n[s:'fine']"},
		{"sh", "echo $#a \"a\n$x\" 'b\\' # c\nif", "echo $#a [s:\"a\n$x\"] [s:'b\\'] [c:# c]\n[k:if]"},
		{"sql", "SELECT 'it''s' FROM t -- x", "[k:SELECT] [s:'it'][s:'s'] [k:FROM] t [c:-- x]"},
		{"json", `{"a": "b", "c" : [1, true]}`, `{[t:"a"]: [s:"b"], [t:"c"] : [[n:1], [k:true]]}`},
		{"yaml", "# c\na-b.c: http://x#y\n- k: 'v'\n", "[c:# c]\n[t:a-b.c]: http://x#y\n- [t:k]: [s:'v']\n"},
		{"toml", "a.b = \"c\"", "[t:a.b] = [s:\"c\"]"},
		{"html", "<!-- a --><p class='x>'>it's</p><3 <br/>", "[c:<!-- a -->][t:<p] class=[s:'x>'][t:>]it's[t:</p][t:>]<3 [t:<br]/[t:>]"},
		{"xml", "<a-b.c:d/><!DOCTYPE x>", "[t:<a-b.c]:d/[t:>][t:<!DOCTYPE] x[t:>]"},
		{"diff", "diff --git\n@@ -1 @@\n+a\n-b\n c", "[c:diff --git\n][k:@@ -1 @@\n][+:+a\n][~:-b\n] c"},
		{"c", "#include <x>\nint 'ab", "[k:#include] <x>\n[k:int] 'ab"},
	} {
		if got := marked(Code(c.language, c.text)); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.language, got, c.want)
		}
	}
	for _, info := range []string{"go title=x", "go,ignore", "go:cmd/main.go", "{.go}", "{go 1,3}", " GO\t"} {
		if got := marked(Code(info, "nil")); got != "[k:nil]" {
			t.Errorf("behind a fence %q: %q", info, got)
		}
	}
	for _, none := range [][2]string{{"", "x"}, {"brainfuck", "x"}, {"go\"><script>", "x"}, {"go", strings.Repeat("x", Max+1)}} {
		if got := Code(none[0], none[1]); got != nil {
			t.Errorf("%.20q: %d spans", none, len(got))
		}
	}
}

func TestLines(t *testing.T) {
	lines := Lines(Code("go", "/* a\nb */ c\n\n`d\ne`"))
	var got []string
	for _, l := range lines {
		got = append(got, marked(l))
	}
	if text := strings.Join(got, "|"); text != "[c:/* a]|[c:b */] c||[s:`d]|[s:e`]" {
		t.Error(text)
	}
}

// All of a text comes out, in order, whatever it is, and no character is cut.
func FuzzCode(f *testing.F) {
	for name := range known() {
		f.Add(name, "a 'b' \"c\\\" /* ` # -- <!-- <p x=' +\n'\\u{1}' 1.5.\xff ä: =")
		f.Add(name, "'")
		f.Add(name, "'\\")
		f.Add(name, `"""\`)
		f.Add(name, "<")
	}
	f.Fuzz(func(t *testing.T, info, text string) {
		spans := Code(info, text)
		if spans == nil {
			return
		}
		var whole strings.Builder
		for _, s := range spans {
			if s.Text == "" || utf8.ValidString(text) && !utf8.ValidString(s.Text) {
				t.Errorf("a span %q", s.Text)
			}
			whole.WriteString(s.Text)
		}
		if whole.String() != text {
			t.Errorf("%q became %q", text, whole.String())
		}
		var lines []string
		for _, l := range Lines(spans) {
			var b strings.Builder
			for _, s := range l {
				b.WriteString(s.Text)
			}
			lines = append(lines, b.String())
		}
		if got := strings.Join(lines, "\n"); got != text {
			t.Errorf("%q became the lines %q", text, got)
		}
	})
}
