package text

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// structuredMark stands before structured content in the content column.
const structuredMark = "\x00json:"

// Readable is what a person would read of a message as it is stored: its
// content, the name of its tool, and its tool calls, each after a space.
// Structured content is its text parts, and no escape of JSON is left.
func Readable(content, toolName, toolCalls string) string {
	return ReadableContent(content) + " " + toolName + " " + unescape(toolCalls)
}

// ReadableContent is the content column as a person would read it.
func ReadableContent(s string) string {
	raw, marked := strings.CutPrefix(s, structuredMark)
	if !marked {
		return s
	}
	if ValidJSON(raw) {
		return Structured([]byte(strings.TrimLeft(raw, " \t\r\n")))
	}
	return unescape(raw)
}

// unescape replaces the escapes of JSON by what they stand for, also those of
// JSON within a string of JSON. White space stays a space.
func unescape(s string) string {
	for depth := 0; depth < 3 && strings.IndexByte(s, '\\') >= 0; depth++ {
		s = unescapeOnce(s)
	}
	return s
}

func unescapeOnce(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		r, n := readEscape(s[i:])
		b.WriteRune(r)
		s = s[i+n:]
	}
}

// readEscape reads the escape that s begins with: a rune and its length in bytes.
// A backslash that escapes nothing is itself.
func readEscape(s string) (rune, int) {
	switch c := s[1]; c {
	case 'n', 't', 'r', 'b', 'f':
		return ' ', 2
	case '"', '\\', '/':
		return rune(c), 2
	case 'u':
		r, ok := hexRune(s[2:])
		if !ok {
			break
		}
		if utf16.IsSurrogate(r) {
			if low, ok := hexRune(strings.TrimPrefix(s[6:], `\u`)); ok && strings.HasPrefix(s[6:], `\u`) {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return both, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return '\\', 1
}

func hexRune(s string) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range []byte(s[:4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 + rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 + rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
