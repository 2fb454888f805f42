package text

import (
	"testing"
	"unicode/utf8"
)

func TestStructured(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`[{"type":"text","text":"caption"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`, "caption"},
		{`[{"type":"text","text":"\u8fd9\u5f20"},{"type":"text","text":"and a piano"}]`, "这张 and a piano"},
		{`["a", "b"]`, "a b"},
		{`"a"`, "a"},
		{`{"type":"text","text":"one"}`, "one"},
		{`[{"type":"tool_result","content":[{"type":"text","text":"deep"}]}]`, "deep"},
		{`[{"type":"tool_result","content":"flat"}]`, "flat"},
		{`{"status":"ok","nested":{"emoji":"x"}}`, ""},
		{`[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]`, ""},
		{`[]`, ""}, {`null`, ""}, {`42`, ""}, {``, ""}, {`[1,`, ""}, {`[{"text":7}]`, ""}, {`[{"text":"  "}]`, ""},
	} {
		if got := Structured([]byte(c.in)); got != c.want {
			t.Errorf("Structured(%s) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestItems(t *testing.T) {
	for _, c := range []struct {
		in    string
		count int
		ok    bool
	}{
		{`[]`, 0, true}, {` [ ] `, 0, true}, {`[1]`, 1, true}, {`[1, [2,3], {"a":[4]}]`, 3, true},
		{`[[[1,2],3],4]`, 2, true}, {`{"a":[1,2]}`, 1, true}, {`"x"`, 1, true}, {`null`, 0, true}, {`[1,`, 1, false}, {``, 1, false},
	} {
		list, ok := Items([]byte(c.in))
		if ok != c.ok || ok && len(list) != c.count || CountItems(c.in) != c.count {
			t.Errorf("%s: %q, %v, counted %d; want %d, %v", c.in, list, ok, CountItems(c.in), c.count, c.ok)
		}
	}
}

func FuzzStructured(f *testing.F) {
	for _, s := range []string{
		`[{"type":"text","text":"caption"},{"type":"image_url"}]`, `["a",["b"]]`, `{"content":[{"text":"\ud800"}]}`, `"x"`, `null`, `[[[[[[[[["deep"]]]]]]]]]`, `[1,`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s := Structured(raw); len(s) > 3*len(raw) || !utf8.ValidString(s) {
			t.Fatalf("%q says %q", raw, s)
		}
		list, ok := Items(raw)
		if ok != ValidJSON(raw) {
			t.Fatalf("%q: items %q, %v", raw, list, ok)
		}
		if n := CountItems(string(raw)); ok && n != len(list) || !ok && n != 1 {
			t.Fatalf("%q: %d items, counted %d", raw, len(list), n)
		}
		for _, item := range list {
			if !ValidJSON([]byte(item)) {
				t.Fatalf("%q: item %q", raw, item)
			}
		}
	})
}
