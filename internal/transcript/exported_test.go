package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// TestExported reads the lines of an export, also with values that no column
// should hold.
func TestExported(t *testing.T) {
	const lines = `{"id":"a","source":"cli","title":null,"model":7,"started_at":1777885200,"parent_session_id":"p","kind":"branch","unknown":{"x":[1]},"messages":[` +
		`{"id":9007199254740993,"role":"user","content":"hi","timestamp":1777885200.5},` +
		`{"id":2,"role":"assistant","content":[{"type":"text","text":"parts"}],"tool_calls":[{"name":"ls","input":{"a":1}}],"reasoning":null},` +
		`{"id":"odd","role":null,"content":null,"timestamp":"never"}]}
{"id":"b","source":"cli","messages":[]}
`
	var b strings.Builder
	if err := transcript.Exported(strings.NewReader(lines), &transcript.Markdown{W: &b}); err != nil {
		t.Fatal(err)
	}
	want := "# a\n\n- Session: a\n- Source: cli\n- Model: 7\n- Started: 2026-05-04 09:00:00 UTC\n- Branch of: p\n" +
		"\n## user\n\n_2026-05-04 09:00:00 UTC · #9007199254740993_\n\nhi\n" +
		"\n## assistant\n\n_#2_\n\nparts\n\nCalls **ls**\n\n```json\n{\n  \"a\": 1\n}\n```\n" +
		"\n## message\n\n_#0_\n" +
		"\n---\n\n# b\n\n- Session: b\n- Source: cli\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, broken := range []string{`{"id":"a","messages":[{"id":1`, `[1]`, `{"id":"a","messages":7}`, `nonsense`} {
		if err := transcript.Exported(strings.NewReader(broken), &transcript.Markdown{W: &b}); err == nil {
			t.Errorf("%s is no error", broken)
		}
	}
}
