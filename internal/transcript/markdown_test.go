package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

func TestHead(t *testing.T) {
	title, model, reason := "plan *b*\nand <script>", "opus_5", "user_exit"
	got := transcript.Head(sessiondb.Session{
		ID: "20260504_090000_d0cc01", Source: "cli", Model: &model, Title: &title, EndReason: &reason,
		StartedAt: time.Unix(1777885200, 0), EndedAt: time.Unix(1777885260, 0),
	})
	want := `# plan \*b\* and \<script>

- Session: 20260504\_090000\_d0cc01
- Source: cli
- Model: opus\_5
- Started: 2026-05-04 09:00:00 UTC
- Ended: 2026-05-04 09:01:00 UTC user\_exit
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := transcript.Head(sessiondb.Session{ID: "a"}); got != "# a\n\n- Session: a\n" {
		t.Errorf("of an empty session: %q", got)
	}
}

func TestMessage(t *testing.T) {
	tool, at := "terminal", time.Unix(1777885200, 0)
	for name, c := range map[string]struct {
		m    sessiondb.Message
		want string
	}{
		"a user's text as it is": {
			sessiondb.Message{ID: 7, Role: "user", Timestamp: at, Content: sessiondb.Text("# not\nescaped\n")},
			"\n## user\n\n_2026-05-04 09:00:00 UTC · #7_\n\n# not\nescaped\n",
		},
		"an answer that would close its fence": {
			sessiondb.Message{ID: 8, Role: "tool", ToolName: &tool, Content: sessiondb.Text("```\n````")},
			"\n## tool terminal\n\n_#8_\n\n`````\n```\n````\n`````\n",
		},
		"a call": {
			sessiondb.Message{ID: 9, Role: "assistant", ToolCalls: json.RawMessage(`[{"function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]`)},
			"\n## assistant\n\n_#9_\n\nCalls **terminal**\n\n```json\n{\n  \"command\": \"ls\"\n}\n```\n",
		},
		"a call of no known form": {
			sessiondb.Message{ID: 9, Role: "assistant", ToolCalls: json.RawMessage(`[{"x":1}]`)},
			"\n## assistant\n\n_#9_\n\n```json\n{\"x\":1}\n```\n",
		},
		"parts without text": {
			sessiondb.Message{ID: 1, Role: "user", Content: sessiondb.Structured(json.RawMessage(`[{"type":"image_url"}]`))},
			"\n## user\n\n_#1_\n\n[multimodal content]\n",
		},
	} {
		if diff := cmp.Diff(c.want, transcript.Message(c.m)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestCall(t *testing.T) {
	for raw, want := range map[string]string{
		`{"function":{"name":"a","arguments":"{\"x\":1}"}}`: `a({"x":1})`,
		`{"name":"b","input":{"y":2}}`:                      `b({"y":2})`,
		`"text"`:                                            `"text"`,
		`{"z":3}`:                                           `{"z":3}`,
	} {
		if got := transcript.Call(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// Whatever a tool answers, it stays inside its fence.
func FuzzMessage(f *testing.F) {
	f.Add("```\n# out")
	f.Add("~~~ ``````` \n`")
	f.Fuzz(func(t *testing.T, text string) {
		got := transcript.Message(sessiondb.Message{ID: 1, Role: "tool", Content: sessiondb.Text(text)})
		_, body, ok := strings.Cut(got, "_#1_\n\n")
		if text == "" && !ok {
			return
		}
		open, rest, _ := strings.Cut(body, "\n")
		inside, ok := strings.CutSuffix(rest, "\n"+open+"\n")
		if !ok || strings.Trim(open, "`") != "" || strings.Contains(inside, open) {
			t.Errorf("%q", got)
		}
	})
}
