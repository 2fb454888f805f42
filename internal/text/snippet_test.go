package text

import (
	"strings"
	"testing"
)

// What a snippet costs grows with the text, not with its square: a paste of
// many megabytes that holds a word at every turn is found in seconds.
func TestSnippetOfManyMatches(t *testing.T) {
	for unit, p := range map[string]Pattern{
		"hello 12 ": {Text: "hello"},
		"🚀 go ":     {Text: "🚀", Fragment: true},
		"배포하다 ":     {Text: "배포", Fragment: true},
	} {
		const n = 200_000
		got := Snippet(strings.Repeat(unit, n), []Pattern{p})
		if !strings.HasPrefix(got, ">>>"+p.Text+"<<<") || !strings.HasSuffix(got, "...") || len(got) > 1000 {
			t.Errorf("%q: %.100q", unit, got)
		}
	}
}
