package enginetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

// testSpace asks what takes room: the parts are the whole, and grow with what
// is said.
func testSpace(t *testing.T, h *harness) {
	db, _ := h.store(t)
	empty := must[sessiondb.Space](t)(db.Space(t.Context()))
	if empty.Text != 0 || empty.Ratio != 0 {
		t.Errorf("an empty store: %+v", empty)
	}
	h.sessions(t, db, "a")
	for range 100 {
		must[int64](t)(db.AppendMessage(t.Context(), "a", sessiondb.Message{
			Role: "assistant", Content: sessiondb.Text(strings.Repeat("é", 50)), ToolName: text("web"),
			ToolCalls: json.RawMessage(`[1]`), Reasoning: text("because"),
		}))
	}
	s := must[sessiondb.Space](t)(db.Space(t.Context()))
	if s.Content != 10000 || s.Tools != 600 || s.Reasoning != 700 || s.Text != 11300 {
		t.Errorf("text: %+v", s)
	}
	if want := float64(s.File+s.Log) / 11300; s.Ratio != want {
		t.Errorf("ratio %v, want %v", s.Ratio, want)
	}
	var sum, last int64
	for i, p := range s.Parts {
		if p.Bytes <= 0 || i > 0 && p.Bytes > last {
			t.Errorf("part %d: %+v", i, p)
		}
		sum, last = sum+p.Bytes, p.Bytes
	}
	if sum != s.File {
		t.Errorf("the parts are %d of %d bytes", sum, s.File)
	}
}
