package sessiondb_test

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func TestCleanTitle(t *testing.T) {
	for title, want := range map[string]string{
		"  a \t b\nc ":                "a b c",
		"a\u200bb\ufeff\u2066c\u2069": "abc",
		"the \U0001f468\u200d\U0001f469\u200d\U0001f467 trip": "the \U0001f468\u200d\U0001f469\u200d\U0001f467 trip",
		"\u0915\u094d\u200d\u0937":                            "\u0915\u094d\u200d\u0937", // scripts that need a joiner
		"\u0645\u06cc\u200c\u062e":                            "\u0645\u06cc\u200c\u062e",
		"a\u200db\u200d":                                      "ab", // a joiner of nothing
		"\u200d\u200b":                                        "",
		strings.Repeat("\u00e9", 100):                         strings.Repeat("\u00e9", 100),
	} {
		if got, err := sessiondb.CleanTitle(title); got != want || err != nil {
			t.Errorf("%+q became %+q, %v", title, got, err)
		}
	}
}
