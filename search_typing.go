package sessiondb

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// UnfinishedQuery is what to search for while a query is still being typed. Its last
// word may not be finished: it stands for all words that begin so. One or two letters
// of ASCII say too little, and would cost more than all that follow: they are left
// out, so that nothing may be left. A filter stays as it is.
func UnfinishedQuery(text string) string {
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) || strings.Count(text, `"`)%2 == 1 {
		return text
	}
	begin := strings.LastIndexFunc(text, unicode.IsSpace) + 1
	word := text[begin:]
	if len(searchql.Parse(word, searchql.Options{}).Filters) > 0 {
		return text
	}
	if len(word) == utf8.RuneCountInString(word) && len(word) < 3 {
		return strings.TrimSpace(text[:begin])
	}
	return text + "*"
}

// ListQuery reads a query that has no word to look for and only filters that a list
// has too: tag: and source:. A search by it finds nothing; what is meant is a list.
func ListQuery(text string) (f ListFilter, ok bool) {
	q := searchql.Parse(text, searchql.Options{})
	for _, by := range q.Filters {
		switch {
		case by.Field == searchql.Tag && !by.Not:
			f.Tags = append(f.Tags, by.Value)
		case by.Field == searchql.Source && by.Not:
			f.ExcludeSources = append(f.ExcludeSources, by.Value)
		case by.Field == searchql.Source && f.Source == "":
			f.Source = by.Value
		default:
			return ListFilter{}, false
		}
	}
	return f, q.Root == nil && len(q.Filters) > 0
}
