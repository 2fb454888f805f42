package text

import "testing"

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
