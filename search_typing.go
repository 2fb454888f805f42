package sessiondb

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnfinishedQuery is what to search for while a query is still being typed. Its last
// word may not be finished: it stands for all words that begin so. One or two letters
// of ASCII say too little, and would cost more than all that follow: they are left
// out, so that nothing may be left.
func UnfinishedQuery(text string) string {
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) || strings.Count(text, `"`)%2 == 1 {
		return text
	}
	begin := strings.LastIndexFunc(text, unicode.IsSpace) + 1
	word := text[begin:]
	if len(word) == utf8.RuneCountInString(word) && len(word) < 3 {
		return strings.TrimSpace(text[:begin])
	}
	return text + "*"
}
