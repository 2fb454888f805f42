package text

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The functions below walk over JSON that ValidJSON accepted, without copying
// it. What they do to anything else is not defined, but for Unquote.

// Members calls fn for each member of an object, in order, duplicates too. An
// error of fn ends the walk. A value that is no object has no members.
func Members(object []byte, fn func(key string, value []byte) error) error {
	s := scanner{src: object}
	if !s.enter('{') {
		return nil
	}
	for s.more('}') {
		key := s.value()
		s.i++ // the colon, which spaces may precede
		for s.src[s.i-1] != ':' {
			s.i++
		}
		if err := fn(Unquote(key), s.value()); err != nil {
			return err
		}
	}
	return nil
}

// Elements calls fn for each item of a list, in order. An error of fn ends the
// walk. A value that is no list has no items.
func Elements(list []byte, fn func(item []byte) error) error {
	s := scanner{src: list}
	if !s.enter('[') {
		return nil
	}
	for s.more(']') {
		if err := fn(s.value()); err != nil {
			return err
		}
	}
	return nil
}

// Unquote returns what a JSON string says. What is not UTF-8, and a lone
// surrogate, becomes U+FFFD. A value that is no string gives the empty string.
func Unquote(raw []byte) string {
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : n-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// scanner goes over valid JSON.
type scanner struct {
	src []byte
	i   int
}

func (s *scanner) space() {
	for s.i < len(s.src) && (s.src[s.i] == ' ' || s.src[s.i] == '\t' || s.src[s.i] == '\n' || s.src[s.i] == '\r') {
		s.i++
	}
}

// enter goes behind the opening bracket of a container.
func (s *scanner) enter(bracket byte) bool {
	s.space()
	if s.i == len(s.src) || s.src[s.i] != bracket {
		return false
	}
	s.i++
	return true
}

// more goes to the next item, or tells that there is none.
func (s *scanner) more(end byte) bool {
	s.space()
	if s.src[s.i] == ',' {
		s.i++
		s.space()
	}
	return s.src[s.i] != end
}

// value returns the next value and goes behind it.
func (s *scanner) value() []byte {
	s.space()
	from := s.i
	for depth := 0; ; {
		switch s.src[s.i] {
		case '"':
			s.text()
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
		case ',', ':', ' ', '\t', '\n', '\r':
			s.i++
		default:
			s.word()
		}
		if depth == 0 {
			return s.src[from:s.i]
		}
	}
}

// text goes behind a string.
func (s *scanner) text() {
	for s.i++; s.src[s.i] != '"'; s.i++ {
		if s.src[s.i] == '\\' {
			s.i++
		}
	}
	s.i++
}

// word goes behind a number or a literal.
func (s *scanner) word() {
	for s.i < len(s.src) {
		switch s.src[s.i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return
		}
		s.i++
	}
}
