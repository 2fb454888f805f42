package sessiondb

import "encoding/json"

// Content is what a message says: NULL (the zero value), text, or structured,
// a JSON value such as a list of text and image parts.
type Content struct {
	text  string
	parts json.RawMessage
	set   bool
}

// Text is plain text content.
func Text(s string) Content { return Content{text: s, set: true} }

// Structured is content of parts, as JSON.
func Structured(parts json.RawMessage) Content { return Content{parts: parts, set: true} }

// IsNull reports whether there is no content. Empty text is not NULL.
func (c Content) IsNull() bool { return !c.set }

// Parts returns the JSON of structured content, nil for text and NULL.
func (c Content) Parts() json.RawMessage { return c.parts }

// PlainText is what a person would read: the text, or the text parts of
// structured content joined by spaces.
func (c Content) PlainText() string { panic("todo") }

type contentColumn struct {
	dst *Content
	odd *odd
}

func (c contentColumn) Scan(src any) error { panic("todo") }
