package text

import (
	"encoding/json"
	"strings"
)

// Structured returns what a person would read of structured content: its text
// parts, joined by spaces. Images, data and everything else are left out; a
// value without text gives the empty string.
func Structured(raw []byte) string {
	var parts []string
	collect(raw, 0, &parts)
	return strings.Join(parts, " ")
}

// maxNesting bounds how deep parts within parts are looked for.
const maxNesting = 8

// collect adds the text of a string, of a list of parts, or of a part: its
// "text", or what its "content" holds.
func collect(raw json.RawMessage, depth int, parts *[]string) {
	if len(raw) == 0 || depth > maxNesting {
		return
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil && strings.TrimSpace(s) != "" {
			*parts = append(*parts, s)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, item := range list {
				collect(item, depth+1, parts)
			}
		}
	case '{':
		var part struct{ Text, Content json.RawMessage }
		if json.Unmarshal(raw, &part) == nil {
			if len(part.Text) > 0 && part.Text[0] == '"' {
				collect(part.Text, depth+1, parts)
			} else {
				collect(part.Content, depth+1, parts)
			}
		}
	}
}

// Items returns the items of a JSON list, any other value as a list of itself,
// and false for what is no JSON. null is an empty list.
func Items(raw []byte) ([]json.RawMessage, bool) {
	if !ValidJSON(raw) {
		return nil, false
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	return list, true
}

// CountItems counts the items of a JSON list. null counts 0, anything else 1.
func CountItems[T string | []byte](src T) int {
	c := compactor[T]{src: src, dry: true}
	first := c.peek()
	switch {
	case !c.run():
		return 1
	case first == 'n':
		return 0
	case first == '[':
		return c.items
	}
	return 1
}
