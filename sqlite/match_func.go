package sqlite

import (
	"bytes"
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
	driver.MustRegisterFunction("sessiondb_matches", &driver.FunctionImpl{
		NArgs: 4, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
			var columns [4][]byte
			for i := range columns {
				columns[i] = columnBytes(args[i])
			}
			p, structuredOnly := decodeTerm(string(columns[0]))
			return matchesMessage(p, structuredOnly, columns[1], columns[2], columns[3]), nil
		},
	})
}

// columnBytes is a column that lies in SQLite's memory, which it may not outlive.
func columnBytes(v sqldriver.Value) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return nil
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
func matchesMessage(p text.Pattern, structuredOnly bool, content, toolName, toolCalls []byte) int64 {
	structured := bytes.HasPrefix(content, []byte("\x00json:"))
	if structuredOnly && !structured {
		return 0
	}
	if p.Fragment && verbatim(p.Text) && !mayHold(p.Text, content) && !mayHold(p.Text, toolName) && !mayHold(p.Text, toolCalls) {
		return 0
	}
	raw := string(content) + " " + string(toolName) + " " + string(toolCalls)
	if p.In(text.Readable(raw[:len(content)], string(toolName), raw[len(raw)-len(toolCalls):])) {
		return 1
	}
	if escaped := structured || bytes.IndexByte(toolCalls, '\\') >= 0; escaped && !structuredOnly && p.In(raw) {
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

func mayHold(s string, stored []byte) bool {
	return bytes.Contains(stored, []byte(s)) || bytes.Contains(stored, []byte(`\u`))
}
