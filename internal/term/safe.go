package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Safe makes text harmless to a terminal: control characters are shown instead
// of obeyed (␛ for escape), and so are those that turn the direction of text.
// Line breaks and tabs stay, a carriage return before a line break goes.
func Safe(s string) string {
	return disarm(s, func(r rune, rest string) (string, bool) {
		switch {
		case r == '\n' || r == '\t':
			return string(r), true
		case r == '\r' && strings.HasPrefix(rest, "\n"):
			return "", true
		}
		return "", false
	})
}

// Line is Safe for text that must stay on one line: white space of every kind
// becomes a space.
func Line(s string) string {
	return disarm(s, func(r rune, _ string) (string, bool) {
		switch r {
		case '\n', '\r', '\t', '\v', '\f', 0x85, 0x2028, 0x2029:
			return " ", true
		}
		return "", false
	})
}

// disarm replaces what except does not take care of.
func disarm(s string, except func(r rune, rest string) (string, bool)) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if !armed(r) {
			b.WriteRune(r) // writes U+FFFD for a byte that is no UTF-8
			continue
		}
		if instead, ok := except(r, s[i:]); ok {
			b.WriteString(instead)
			continue
		}
		b.WriteString(picture(r))
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !plain(s[i]) {
			return false
		}
	}
	return true
}

// plain reports whether a byte is printable ASCII.
func plain(c byte) bool { return c >= 0x20 && c < 0x7f }

// armed reports whether a terminal may obey r: C0, C1, and what overrides or
// isolates the direction of text, or breaks lines.
func armed(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x061c || r == 0x200e || r == 0x200f
}

// picture shows a character that must not be printed.
func picture(r rune) string {
	switch {
	case r < 0x20:
		return string('\u2400' + r)
	case r == 0x7f:
		return "\u2421"
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// JSONWriter returns a writer of JSON on which characters that a terminal may
// obey become \u escapes. The JSON means the same.
func JSONWriter(w io.Writer) io.Writer {
	return &runeWriter{w: w, show: func(r rune) (string, bool) {
		return fmt.Sprintf(`\u%04x`, r), armed(r) && r != '\n'
	}}
}

// TextWriter returns a writer of text that is made harmless as by [Safe],
// carriage returns left out.
func TextWriter(w io.Writer) io.Writer { return &runeWriter{w: w, show: shown} }

// FileWriter is TextWriter for text that goes to a file or a browser: what turns
// its direction stays, which they show as whoever wrote it meant it.
func FileWriter(w io.Writer) io.Writer {
	return &runeWriter{w: w, show: func(r rune) (string, bool) {
		if r > 0x9f {
			return "", false
		}
		return shown(r)
	}}
}

func shown(r rune) (string, bool) {
	switch {
	case !armed(r) || r == '\n' || r == '\t':
		return "", false
	case r == '\r':
		return "", true
	}
	return picture(r), true
}

// runeWriter writes what is shown instead of a character, where there is
// something. Printable ASCII is never asked for.
type runeWriter struct {
	w    io.Writer
	show func(rune) (string, bool)
	tail []byte // of a character whose end is in the next write
}

func (j *runeWriter) Write(p []byte) (int, error) {
	in := append(j.tail, p...)
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 && utf8.FullRune(in) {
		n := 0
		for n < len(in) && plain(in[n]) {
			n++
		}
		if n > 0 {
			out, in = append(out, in[:n]...), in[n:]
			continue
		}
		r, n := utf8.DecodeRune(in)
		if s, ok := j.show(r); ok {
			out = append(out, s...)
		} else {
			out = utf8.AppendRune(out, r) // U+FFFD for a byte that is no UTF-8
		}
		in = in[n:]
	}
	j.tail = append([]byte(nil), in...)
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
