package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PostgreSQL stores no NUL and nothing that is not UTF-8. Text that holds such,
// or the mark that stands for it, is stored with an escape: \x01 and 0 for NUL, 1
// for the mark itself, x and two digits for a byte that is no character. The order
// of texts stays what it was, and every text comes back as it was. A b at the
// beginning says that the value is no text but a blob, as other programs may store.
const mark = "\x01"

const blobMark = mark + "b"

// blob is a value of bytes that are no text.
type blob string

// encodeValue is a value as a column of text stores it.
func encodeValue(v any) string {
	switch v := v.(type) {
	case string:
		return encodeText(v)
	case blob:
		return blobMark + encodeText(string(v))
	}
	return encodeText(fmt.Sprint(v))
}

// decodeValue is the value that was stored: a string or a blob.
func decodeValue(s string) any {
	if b, ok := strings.CutPrefix(s, blobMark); ok {
		return blob(decodeText(b))
	}
	return decodeText(s)
}

// plain is a value as the rules know it.
func plain(v any) any {
	if b, ok := v.(blob); ok {
		return []byte(b)
	}
	return v
}

// encodeText is a text as it is stored.
func encodeText(s string) string {
	if strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, 1) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0:
			b.WriteString(mark + "0")
		case r == 1:
			b.WriteString(mark + "1")
		case r == utf8.RuneError && n == 1:
			b.WriteString(mark + "x" + strconv.FormatUint(uint64(s[i]), 16))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// readText is what a stored value says, a blob too.
func readText(s string) string { return decodeText(strings.TrimPrefix(s, blobMark)) }

// decodeText is the text that was stored. A mark that no escape of ours begins,
// as other programs may store, is itself.
func decodeText(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, 1)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c, n := decodeEscape(s[i:])
		b.WriteByte(c)
		s = s[i+n:]
	}
}

// decodeEscape reads the escape that s begins with, and its length.
func decodeEscape(s string) (byte, int) {
	switch {
	case strings.HasPrefix(s, mark+"0"):
		return 0, 2
	case strings.HasPrefix(s, mark+"1"):
		return 1, 2
	case strings.HasPrefix(s, mark+"x") && len(s) >= 4:
		if c, err := strconv.ParseUint(s[2:4], 16, 8); err == nil && c >= utf8.RuneSelf {
			return byte(c), 4
		}
	}
	return 1, 1
}
