// Package searchql turns what a person typed into a tree of terms. It is pure:
// it knows no database and no index.
package searchql

// Query is a parsed search.
type Query struct {
	Text string
}

// Parse reads what was typed. Any string parses.
func Parse(s string) Query { return Query{Text: s} }
