package text

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{"a":1, "b" : [1,{"c":"]}"}], "\\u0061":null}`, `[1 , "x\"]" ,[],{}, -1.5e3, true]`, ` [ ] `, `{ }`, `"x"`, `7`, `[[],[[]]]`,
		`{"":{"":""}}`, `["\ud800"]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !ValidJSON(in) {
			return
		}
		var items []json.RawMessage
		_ = Elements(in, func(item []byte) error {
			items = append(items, item)
			return nil
		})
		var list []json.RawMessage
		if json.Unmarshal(in, &list) == nil {
			if len(list) != len(items) {
				t.Fatalf("%q: %q, want %q", in, items, list)
			}
			for i := range list {
				if !bytes.Equal(bytes.TrimSpace(list[i]), items[i]) {
					t.Fatalf("%q: item %d is %q", in, i, items[i])
				}
			}
		}
		got := map[string]string{}
		_ = Members(in, func(key string, value []byte) error {
			got[key] = string(value)
			return nil
		})
		var object map[string]json.RawMessage
		if json.Unmarshal(in, &object) == nil {
			if len(object) != len(got) {
				t.Fatalf("%q: %q, want %q", in, got, object)
			}
			for k, v := range object {
				if string(bytes.TrimSpace(v)) != got[k] {
					t.Fatalf("%q: %q is %q", in, k, got[k])
				}
			}
		}
		var s string
		if json.Unmarshal(in, &s) == nil {
			if u := Unquote(bytes.TrimSpace(in)); u != s {
				t.Fatalf("%q says %q, want %q", in, u, s)
			}
		}
	})
}

func TestWalkEnds(t *testing.T) {
	n := 0
	count := func() error {
		n++
		return errJSON
	}
	if err := Elements([]byte(`[1,2]`), func([]byte) error { return count() }); err != errJSON || n != 1 {
		t.Errorf("%d items, %v", n, err)
	}
	if err := Members([]byte(`{"a":1,"b":2}`), func(string, []byte) error { return count() }); err != errJSON || n != 2 {
		t.Errorf("%d members, %v", n-1, err)
	}
}
