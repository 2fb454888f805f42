package sqlite

import (
	sqldriver "database/sql/driver"
	"strings"
	"unicode"
	"unicode/utf8"

	driver "modernc.org/sqlite"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// matchesCall tells whether a message m matches a term. It stands in queries
// alone: no trigger or index of a file may need a function of ours. A function gets
// text only up to a NUL, so it gets bytes.
const matchesCall = `sessiondb_matches(?, CAST(m.content AS BLOB), CAST(m.tool_name AS BLOB), CAST(m.tool_calls AS BLOB))`

func init() {
	driver.MustRegisterDeterministicScalarFunction("sessiondb_matches", 4, func(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		p, structuredOnly := decodeTerm(columnText(args[0]))
		return matchesMessage(p, structuredOnly, columnText(args[1]), columnText(args[2]), columnText(args[3])), nil
	})
}

func columnText(v sqldriver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// encodeTerm makes a parameter of a term: a letter for its kind, a capital one for
// structured content alone, then its text.
func encodeTerm(t *searchql.Term, structuredOnly bool) string {
	kind := "w"
	switch {
	case t.Fragment:
		kind = "f"
	case t.Prefix:
		kind = "p"
	}
	if structuredOnly {
		kind = strings.ToUpper(kind)
	}
	return kind + t.Text
}

func decodeTerm(s string) (p text.Pattern, structuredOnly bool) {
	kind := strings.ToLower(s[:1])
	return text.Pattern{Text: s[1:], Fragment: kind == "f", Prefix: kind == "p", Touching: touches}, kind != s[:1]
}

// matchesMessage looks for a pattern in what a person would read of a message,
// and in what is stored.
func matchesMessage(p text.Pattern, structuredOnly bool, content, toolName, toolCalls string) int64 {
	structured := strings.HasPrefix(content, "\x00json:")
	if structuredOnly && !structured {
		return 0
	}
	if p.Fragment && verbatim(p.Text) && !mayHold(p.Text, content) && !mayHold(p.Text, toolName) && !mayHold(p.Text, toolCalls) {
		return 0
	}
	readable := text.Readable(content, toolName, toolCalls)
	if p.In(readable) {
		return 1
	}
	if raw := content + " " + toolName + " " + toolCalls; !structuredOnly && raw != readable && p.In(raw) {
		return 1
	}
	return 0
}

// verbatim says that a text stands in JSON as it is, or else in escapes: it has
// no case to fold and nothing that must be escaped. Then JSON need not be read
// to tell that it is not there.
func verbatim(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf || unicode.SimpleFold(r) != r {
			return false
		}
	}
	return true
}

func mayHold(s, stored string) bool {
	return strings.Contains(stored, s) || strings.Contains(stored, `\u`)
}
