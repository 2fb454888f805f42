package text

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendCompact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "a" : [ 1 , 2 ] } `, `{"a":[1,2]}`},
		{`"\u5e7f\u897f"`, `"广西"`},
		{`"\ud83d\udc08 caf\u00E9"`, `"🐈 café"`},
		{`"\ud800"`, `"` + "\uFFFD" + `"`},
		{`"\udc97x"`, `"` + "\uFFFD" + `x"`},
		{`"\ud800\ud83d\udc08"`, `"` + "\uFFFD" + `🐈"`},
		{`"\ud800\u0041"`, `"` + "\uFFFD" + `A"`},
		{`"\u0000\u001b[31m\u000a\u0022\u005c\/"`, `"\u0000\u001b[31m\n\"\\/"`},
		{"\"\u009b \u2028\"", `"\u009b \u2028"`},
		{"\"bad \xff\xfe\"", "\"bad \uFFFD\uFFFD\""},
		{`{"z":1,"a":2,"z":3}`, `{"z":1,"a":2,"z":3}`},
		{`[1.0, 1e5, -0, 12345678901234567890, 0.1000]`, `[1.0,1e5,-0,12345678901234567890,0.1000]`},
		{`[true, false , null]`, `[true,false,null]`},
		{`[[], {}, [ ], { }]`, `[[],{},[],{}]`},
		{` 7 `, `7`},
		{`"👨‍👩‍👧"`, `"👨‍👩‍👧"`},
	} {
		got, err := AppendCompact([]byte("x"), c.in)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("AppendCompact(%s) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestAppendCompactRefuses(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `[`, `]`, `}`, `[1,]`, `[,]`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{1:2}`, `[1 2]`, `{"a":1]`,
		`[1}`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", `01`, `-`, `1.`, `1e`, `1e+`, `.5`, `+1`, `NaN`, `Infinity`,
		`tru`, `truex`, `nul`, `1 1`, `{} x`, `'a'`, `{"a" "b"}`, "\xef\xbb\xbf1", strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	} {
		if got, err := AppendCompact([]byte("x"), in); err == nil || string(got) != "x" {
			t.Errorf("AppendCompact(%.40s) = %s, %v", in, got, err)
		}
		if ValidJSON(in) {
			t.Errorf("ValidJSON(%.40s)", in)
		}
	}
}

func FuzzAppendCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\u5e7f",null]}`, `"\ud83d\udc08"`, `[1.5e-3, true]`, "\"\x80\"", `"\udc00\ud800"`, `[[[]],{"":{}}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := AppendCompact(nil, in)
		valid := json.Valid(in)
		if ok := ValidJSON(string(in)); ok != (err == nil) {
			t.Fatalf("ValidJSON(%q) = %v, AppendCompact: %v", in, ok, err)
		}
		if err != nil {
			if valid && bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) < maxDepth {
				t.Fatalf("refused %q", in)
			}
			return
		}
		if !valid || !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("%q became %q", in, got)
		}
		if a, b := decode(t, in), decode(t, got); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q: %#v, %#v", in, got, a, b)
		}
		again, err := AppendCompact(nil, string(got))
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q, again %q", got, again)
		}
	})
}

func decode(t *testing.T, b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\x00\x1b\x7f", "\u0085\u009b\u2028", "\xff\xc3", "배포 🐈"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := AppendString(nil, in)
		if b := AppendString(nil, []byte(in)); !bytes.Equal(b, got) {
			t.Fatalf("%q: %q as bytes", got, b)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want := string([]rune(in)); back != want {
			t.Fatalf("%q came back as %q", in, back)
		}
		if bytes.ContainsAny(got, "\x00\n\r\x1b\x7f\u0085\u009b\u2028") {
			t.Fatalf("bare control character in %q", got)
		}
	})
}
