package redact

import (
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// offsets tells for each byte of a text, and for its end, where in another text
// it comes from. nil is the same text.
type offsets []int32

func (o offsets) at(i int) int {
	if o == nil {
		return i
	}
	return int(o[i])
}

// unescape resolves the escapes that JSON and most languages share, those of
// addresses (%22) and of HTML (&quot;): text within text, such as the output of a
// program that printed JSON. Colours of a terminal are nothing. What is no such
// escape stays.
func unescape(s string) (string, offsets) {
	b := make([]byte, 0, len(s))
	from := make(offsets, 0, len(s)+1)
	for i := 0; i < len(s); {
		was, n := len(b), 0
		if b, n = appendEscape(b, s[i:]); n == 0 {
			b, n = append(b, s[i]), 1
		}
		for range len(b) - was {
			from = append(from, int32(i)) // #nosec G115 -- texts are shorter than 2 GiB: SQLite holds no longer ones
		}
		i += n
	}
	return string(b), append(from, int32(len(s))) // #nosec G115 -- as above
}

// escapes begin what unescape resolves.
const escapes = "\\%&\x1b^"

// appendEscape appends what the escape says that s begins with; n is its length,
// 0 if there is none.
func appendEscape(b []byte, s string) (_ []byte, n int) {
	if strings.IndexByte(escapes, s[0]) < 0 {
		return b, 0
	}
	if n = sequence(s); n > 0 {
		return b, n
	}
	switch s[0] {
	case '\\':
		r, n := backslash(s)
		if n == 0 {
			return b, 0
		}
		return utf8.AppendRune(b, r), n
	case '%':
		if len(s) >= 3 {
			if v, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
				return append(b, byte(v)), 3
			}
		}
	case '&':
		if end := strings.IndexByte(s[:min(len(s), maxEntity)], ';'); end > 1 {
			if says := html.UnescapeString(s[:end+1]); len(says) <= utf8.UTFMax && says != s[:end+1] {
				return append(b, says...), end + 1
			}
		}
	}
	return b, 0
}

// maxEntity is the length of the longest entity that is looked for.
const maxEntity = 10

// backslash decodes the escape that s begins with; n is its length, 0 if there is
// none.
func backslash(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case '"', '\'', '\\', '/':
		return rune(s[1]), 2
	case 'u':
		if len(s) >= 6 {
			if v, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
				return rune(v), 6 // #nosec G115 -- 16 bits
			}
		}
	}
	return 0, 0
}

// minBase64 is the length from which a run of base64 is looked into.
const minBase64 = 40

// eachBase64 calls fn for what looks like text in base64: where it stands, and
// what it says.
func eachBase64(s string, fn func(from, to int, says string)) {
	for i := 0; i < len(s); i++ {
		from := i
		for i < len(s) && isBase64(s[i]) {
			i++
		}
		to := i
		for i < len(s) && s[i] == '=' {
			i++
		}
		if to-from < minBase64 {
			continue
		}
		if says := decodeText(s[from:to]); says != "" {
			fn(from, i, says)
		}
	}
}

func isBase64(b byte) bool { return isWord(b) || b == '-' || b == '+' || b == '/' }

// decodeText returns what a run of base64 says if it is text, else nothing. Its
// beginning decides soon.
func decodeText(s string) string {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	if head, err := encoding.DecodeString(s[:minBase64]); err != nil || !printable(head) {
		return ""
	}
	b, err := encoding.DecodeString(s[:len(s)-len(s)%4])
	if err != nil || !printable(b) {
		return ""
	}
	if rest, err := encoding.DecodeString(s[len(s)-len(s)%4:]); err == nil {
		b = append(b, rest...)
	}
	return string(b)
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && !isSpace(c) || c >= 0x7f {
			return false
		}
	}
	return true
}
