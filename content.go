package sessiondb

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// Content is what a message says: NULL (the zero value), text, or structured,
// a JSON value such as a list of text and image parts.
type Content struct {
	text  string
	parts json.RawMessage
	set   bool
}

// Text is plain text content.
func Text(s string) Content { return Content{text: s, set: true} }

// Structured is content of parts, as JSON. No JSON is no content; a JSON string
// comes back as text.
func Structured(parts json.RawMessage) Content {
	if len(parts) == 0 {
		return Content{}
	}
	return Content{parts: parts, set: true}
}

// IsNull reports whether there is no content. Empty text is not NULL.
func (c Content) IsNull() bool { return !c.set }

// isEmpty reports whether there is nothing in it, be it NULL, text or a list.
func (c Content) isEmpty() bool {
	switch string(c.parts) {
	case "[]", "{}":
		return true
	}
	return c.parts == nil && c.text == ""
}

// Parts returns the JSON of structured content, nil for text and NULL.
func (c Content) Parts() json.RawMessage { return c.parts }

// PlainText is what a person would read: the text, or the text parts of
// structured content joined by spaces.
func (c Content) PlainText() string {
	if c.parts != nil {
		return text.Structured(c.parts)
	}
	return c.text
}

// structuredMark stands before the JSON of structured content in the content
// column. Text that begins with it is stored as a JSON string behind it.
const structuredMark = "\x00json:"

// stored is the value of the content column.
func (c Content) stored() (any, error) {
	switch {
	case !c.set:
		return nil, nil
	case c.parts == nil:
		return storedText(c.text), nil
	}
	b, err := text.AppendCompact([]byte(structuredMark), []byte(c.parts))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: content is not JSON: %v", ErrInvalid, err)
	case string(b[len(structuredMark):]) == "null":
		return nil, nil
	case b[len(structuredMark)] == '"':
		return storedText(contentFrom(string(b)).text), nil
	}
	return string(b), nil
}

func storedText(s string) string {
	s = validText(s)
	if strings.HasPrefix(s, structuredMark) {
		return string(text.AppendString([]byte(structuredMark), s))
	}
	return s
}

// contentFrom reads the content column. What is no JSON behind the mark is
// text, mark and all.
func contentFrom(s string) Content {
	raw, marked := strings.CutPrefix(s, structuredMark)
	if !marked || !text.ValidJSON(raw) {
		return Text(validText(s))
	}
	raw = strings.TrimLeft(raw, " \t\r\n")
	switch raw[0] {
	case 'n':
		return Content{}
	case '"':
		var plain string
		if json.Unmarshal([]byte(raw), &plain) == nil {
			return Text(plain)
		}
	}
	return Structured(json.RawMessage(raw))
}

type contentColumn struct {
	dst *Content
	odd *odd
}

func (c contentColumn) Scan(src any) error {
	*c.dst = Content{}
	if src == nil {
		return nil
	}
	if s, ok := src.(string); ok {
		*c.dst = contentFrom(s)
		return nil
	}
	var s string
	err := textColumn{"content", &s, c.odd}.Scan(src)
	*c.dst = contentFrom(s)
	return err
}

// ScanText implements [engine.TextScanner].
func (c contentColumn) ScanText(s *string) error {
	*c.dst = contentFrom(*s)
	return nil
}
