package rpc_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/rpc"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// Any bytes get responses or nothing, never a crash, and the line after them
// works. The store is read-only: whatever is asked for, nothing changes.
func FuzzServe(f *testing.F) {
	db, err := sqlite.Open(f.Context(), fixture.Copy(f, "hermes-v11.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	for _, seed := range []string{
		call(1, "get_messages", `{"session_id":"fill_15_0d"}`),
		call(1, "list_sessions_rich", `[null,null,1]`),
		`{"jsonrpc":"2.0","method":"get_session","params":["x"]}`,
		`[{"jsonrpc":"2.0","id":"a","method":"session_count"},{},5]`,
		`{"jsonrpc":"2.0","id":null,"method":"append_message","params":{"session_id":"x","role":"\ud800"}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"\xfe\"}",
		`{"id":1e999,"jsonrpc":"2.0","method":"top_sessions","params":{"limit":1.5}}`,
		"[", "[]", "{}", "nul", "\x00", " \r", "\n\n",
	} {
		f.Add([]byte(seed))
	}
	last := call(99, "session_count", "[]")
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		input := append(append(bytes.Clone(in), '\n'), last...)
		if err := rpc.Serve(t.Context(), db, bytes.NewReader(input), &out, rpc.Options{MaxLine: 1 << 12}); err != nil {
			t.Fatal(err)
		}
		answered := false
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) || !utf8.Valid(line) {
				t.Fatalf("%q is answered with %q", in, line)
			}
			answered = answered || bytes.Contains(line, []byte(`"id":99,"result":93}`))
		}
		if !answered {
			t.Fatalf("after %q nothing is answered: %s", in, out.Bytes())
		}
	})
}
