// Package transcript is a conversation as a person reads it: what its messages
// say, and the whole of it as Markdown. It opens no store and prints nothing;
// what a terminal or a browser must not obey is for whoever shows it.
package transcript

import (
	"encoding/json"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// Text is what a person reads of content: its text, or a note that there is
// something else. NULL and empty content are empty.
func Text(c sessiondb.Content) string {
	if text := c.PlainText(); text != "" || c.Parts() == nil {
		return text
	}
	return "[multimodal content]"
}

// Call is a tool call: its name and its arguments, "name(arguments)", in the
// forms that OpenAI and Anthropic use. Anything else is its JSON.
func Call(raw json.RawMessage) string {
	name, arguments := CallParts(raw)
	if name == "" {
		return string(raw)
	}
	return name + "(" + arguments + ")"
}

// CallParts is the name of a tool call and its arguments, most often JSON. The
// name is empty where the form is not known.
func CallParts(raw json.RawMessage) (name, arguments string) {
	var c struct {
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return "", ""
	}
	if c.Function.Name != "" {
		return c.Function.Name, argumentText(c.Function.Arguments)
	}
	return c.Name, argumentText(c.Input)
}

// argumentText unpacks arguments that are a string of JSON.
func argumentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Tags are the tags of a conversation in a line: "#urgent #work".
func Tags(tags []string) string {
	var b strings.Builder
	for _, t := range tags {
		b.WriteString(" #" + t)
	}
	return strings.TrimPrefix(b.String(), " ")
}
