package text

import "unicode/utf8"

// AppendString appends s as a JSON string: UTF-8, with quotes, backslashes,
// control characters (also those above ASCII, which some terminals obey) and
// line separators escaped. What is not UTF-8 becomes U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if class[b] == plain {
			i++
			continue
		}
		r, n := rune(b), 1
		if b >= utf8.RuneSelf {
			var ok bool
			if r, n, ok = special(s, i); ok {
				i += n
				continue
			}
		}
		dst = appendRune(append(dst, s[from:i]...), r)
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// The classes of bytes inside a JSON string.
const (
	odd   = iota // needs a look
	plain        // stands for itself
)

var class = func() (t [256]byte) {
	for b := ' '; b < 0x7f; b++ {
		t[b] = plain
	}
	t['"'], t['\\'] = odd, odd
	return t
}()

// special decodes the character at i, which is not plain, and tells whether it
// can stand as it is.
func special[T string | []byte](s T, i int) (r rune, n int, ok bool) {
	b := s[i]
	// Most of what is not ASCII: three bytes from U+1000 up, which needs no
	// decoding to be known as valid.
	if b >= 0xE1 && b <= 0xEC && b != 0xE2 && i+2 < len(s) && s[i+1]&0xC0 == 0x80 && s[i+2]&0xC0 == 0x80 {
		return 0, 3, true
	}
	var buf [utf8.UTFMax]byte
	r, n = utf8.DecodeRune(buf[:copy(buf[:], s[i:])])
	return r, n, (r != utf8.RuneError || n > 1) && !escaped(r)
}

// escaped tells which characters are written as escapes.
func escaped(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029
}

const hexDigits = "0123456789abcdef"

// appendRune appends a character of a string, escaped if need be.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if escaped(r) {
		return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}
