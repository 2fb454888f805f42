package searchql

import (
	"strings"
	"unicode"
)

// unspaced are the scripts whose words are not set apart by spaces, or not only
// by spaces: a word of Korean carries its particles.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// Unspaced reports whether r belongs to a script without spaces.
func Unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r == 'ー', r == 'ｰ', r == 'ﾞ', r == 'ﾟ': // shared by both kana
		return true
	}
	return unicode.In(r, unspaced...)
}

// Emoji reports whether r is a pictograph or another symbol that people look
// for by itself.
func Emoji(r rune) bool {
	return r > 0x7f && r != 0xfffd && (unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff)
}

// extendsEmoji reports whether r belongs to the emoji before it.
func extendsEmoji(r rune) bool {
	return r == 0x200d || r == 0xfe0f || r == 0xfe0e || r == 0x20e3 || r >= 0xe0020 && r <= 0xe007f
}

// wordChar reports whether r is part of a word.
func wordChar(r rune) bool {
	return r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9') ||
		r >= 0x80 && (unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co) && !extendsEmoji(r))
}

// joiner reports whether r, between two characters of words, makes a phrase of
// them.
func joiner(r rune) bool {
	return strings.ContainsRune(`.-_/:@#'\’‐‑`, r) || unicode.Is(unicode.Cf, r)
}

// cjkMark reports whether r is punctuation of East Asian text, which can be
// looked for when there is nothing else in a query.
func cjkMark(r rune) bool { return r >= 0x3001 && r <= 0x303f && !wordChar(r) && !Emoji(r) }

func hasUnspaced(s string) bool { return strings.IndexFunc(s, Unspaced) >= 0 }
