package term

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain 배포 é 👨‍👩‍👧":            "plain 배포 é 👨‍👩‍👧",
		"two\nlines\tand a tab":       "two\nlines\tand a tab",
		"dos\r\nlines":                "dos\nlines",
		"over\rwritten":               "over␍written",
		"\x1b[31mred\x1b]0;title\a":   "␛[31mred␛]0;title␇",
		"back\b\bspace \x7f \x00":     "back␈␈space ␡ ␀",
		"c1 \u009b2J \u0090 \u0085":   `c1 \u009b2J \u0090 \u0085`,
		"bidi \u202etxt\u2066 \u200f": `bidi \u202etxt\u2066 \u200f`,
		"line \u2028 separator":       `line \u2028 separator`,
		"bad \xff\x9b bytes":          "bad \ufffd\ufffd bytes",
	} {
		if got := Safe(in); got != want {
			t.Errorf("Safe(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\r\nc\td": "a b  c d",
		"\x1b[1mx":     "␛[1mx",
		"a\u2028b":     "a b",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("\x1b[31m\u009b\xff\u202e\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if armed(r) {
				t.Errorf("Line(%q) holds %q", s, r)
			}
		}
		for _, r := range Safe(s) {
			if armed(r) && r != '\n' && r != '\t' {
				t.Errorf("Safe(%q) holds %q", s, r)
			}
		}
	})
}

func TestJSONWriter(t *testing.T) {
	value := "c1 \u009b2J, bidi \u202e, 배포 👨‍👩‍👧, del \x7f"
	var in, out bytes.Buffer
	if err := json.NewEncoder(&in).Encode(value); err != nil {
		t.Fatal(err)
	}
	w := JSONWriter(&out)
	for _, b := range in.Bytes() { // characters may be split between writes
		if n, err := w.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		if armed(r) {
			t.Errorf("%q holds %q", out.String(), r)
		}
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != value {
		t.Errorf("read back %q, %v; want %q", back, err, value)
	}
}

func TestTextWriters(t *testing.T) {
	const text = "a\tb\r\n\x1b[2J 배포 \u202e \u009b2J \x7f\xff 👩"
	for want, writer := range map[string]func(io.Writer) io.Writer{
		"a\tb\n␛[2J 배포 \\u202e \\u009b2J ␡\uFFFD 👩": TextWriter,
		"a\tb\n␛[2J 배포 \u202e \\u009b2J ␡\uFFFD 👩":  FileWriter,
	} {
		var whole, split bytes.Buffer
		if _, err := io.WriteString(writer(&whole), text); err != nil {
			t.Fatal(err)
		}
		w := writer(&split)
		for _, b := range []byte(text) {
			if n, err := w.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if whole.String() != want || split.String() != want {
			t.Errorf("wrote %q, and in parts %q, want %q", whole.String(), split.String(), want)
		}
	}
}
