package sessiondb

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// FuzzReadImported sees to it that a line either is refused or gives rows that
// can be stored.
func FuzzReadImported(f *testing.F) {
	for _, line := range []string{
		`{"id":"a","source":"cli","started_at":1.5,"title":null,"kind":"delegate","messages":[{"id":1,"role":"user","content":"x","timestamp":2}]}`,
		`{"id":"a","messages":[{"role":"assistant","tool_calls":[1],"content":[{"type":"text"}],"token_count":"many"},{"id":9,"role":"tool"}]}`,
		`{"id":"a","input_tokens":1e400,"started_at":"+Inf","model_config":"{","parent_session_id":7,"messages":null}`,
		`{"id":"a","messages":[{"id":1,"role":"user","role":null},{"id":2,"id":null,"role":"user","timestamp":1,"timestamp":null}]}`,
		`{"id":"\ud800","id":"b","messages":[],"messages":[{"role":{}}]}`, `[]`, `{`, `7`, `{"id":""}`, `{"id":"a","messages":{}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		s, err := readImported(line)
		if !bytes.Equal(line, before) {
			t.Fatalf("%q was changed", before)
		}
		if err != nil {
			return
		}
		if checkID(s.id()) != nil || s.row[sourceAt] == nil {
			t.Fatalf("%q: row %v", line, s.row)
		}
		storable(t, s.row)
		n, last := int64(0), int64(0)
		if err := s.eachRow(1.5, func(row []any) error {
			if n++; row[columnAt(messageColumns, "role")] == nil || row[messageTimeAt] == nil || row[messageSessionAt] != s.id() {
				t.Fatalf("%q: message %v", line, row)
			}
			if s.ordered {
				id := row[messageIDAt].(int64)
				if id <= last {
					t.Fatalf("%q: id %d after %d", line, id, last)
				}
				last = id
			}
			storable(t, row)
			return nil
		}); err != nil || n != s.count {
			t.Fatalf("%q: %d messages of %d, %v", line, n, s.count, err)
		}
	})
}

func storable(t *testing.T, row []any) {
	t.Helper()
	for i, v := range row {
		switch v := v.(type) {
		case nil, int64, float64:
		case string:
			if !utf8.ValidString(v) {
				t.Fatalf("column %d is %q", i, v)
			}
		default:
			t.Fatalf("column %d is a %T", i, v)
		}
	}
}
