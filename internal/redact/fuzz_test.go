package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A redacted object is an object of the same shape, and redacting it again
// changes nothing.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		githubKey, pem, "postgres://user:pw@host", `{"password":"hunter2!","a":["--token","abc123!"]}`, `\"key\":\"\nAKIA` + awsKey[4:] + `\"`,
		"[redacted:jwt] key=[redacted:jwt]abc12345678", "Authorization: Bearer [redacted:x]abc123def456", "://a:[redacted:url-password]b@c",
		"비밀번호: abc123! " + jwt, "kind: Secret\nmetadata:\n  name: x\ndata:\n  a: c2VjcmV0c2VjcmV0\n  b: c2VjcmV0c2VjcmV0\n",
	} {
		f.Add(seed, seed, "key")
	}
	f.Fuzz(func(t *testing.T, a, b, name string) {
		in, err := json.Marshal(map[string]any{"id": a, "role": "user", "content": a, "tool_calls": []any{map[string]any{name: b, "n": 1.5}, nil, true}, "reasoning": b})
		if err != nil {
			t.Skip()
		}
		once, _ := redacted(t, string(in))
		if was, is := shape(t, string(in)), shape(t, once[0]); was != is {
			t.Errorf("the shape was %s and is %s", was, is)
		}
		if twice, _ := redacted(t, once[0]); twice[0] != once[0] {
			t.Errorf("once  %s\ntwice %s", once[0], twice[0])
		}
	})
}

// shape is JSON with all strings alike but ids and roles, keys by their order.
func shape(t *testing.T, s string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("no JSON: %v: %s", err, s)
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(v)) {
		b.WriteString(k + ":")
		if x, ok := v[k].(string); ok && (k == "id" || k == "role") {
			b.WriteString(x)
		} else {
			writeShape(&b, v[k])
		}
		b.WriteByte(';')
	}
	return b.String()
}

func writeShape(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString("text")
	case []any:
		for _, x := range v {
			b.WriteByte('[')
			writeShape(b, x)
			b.WriteByte(']')
		}
	case map[string]any:
		n := 0
		for range v {
			n++
		}
		b.WriteString(strings.Repeat("{}", n))
	default:
		out, _ := json.Marshal(v)
		b.Write(out)
	}
}
