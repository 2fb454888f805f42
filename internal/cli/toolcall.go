package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// toolCall prints a call that a message makes, on a terminal broken at its
// width.
func (a *app) toolCall(w io.Writer, call json.RawMessage) {
	lines := []string{term.Line("→ " + callText(call))}
	if a.OutTTY {
		lines = term.Wrap(lines[0], a.Width)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, a.Paint(term.Dim, line))
	}
}

// callText is a tool call as a person reads it: the name and the arguments.
func callText(raw json.RawMessage) string {
	var c struct {
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return string(raw)
	}
	if c.Function.Name != "" {
		return c.Function.Name + "(" + argumentText(c.Function.Arguments) + ")"
	}
	if c.Name != "" {
		return c.Name + "(" + argumentText(c.Input) + ")"
	}
	return string(raw)
}

// argumentText unpacks arguments that are a string of JSON.
func argumentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
