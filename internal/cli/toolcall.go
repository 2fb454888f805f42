package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/internal/transcript"
)

// toolCall prints a call that a message makes, on a terminal broken at its
// width.
func (a *app) toolCall(w io.Writer, call json.RawMessage) {
	lines := []string{term.Line("→ " + transcript.Call(call))}
	if a.OutTTY {
		lines = term.Wrap(lines[0], a.Width)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, a.Paint(term.Dim, line))
	}
}
