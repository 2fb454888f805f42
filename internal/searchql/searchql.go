// Package searchql turns what a person typed into a tree of terms. It is pure:
// it knows no database and no index. Any string parses; docs/search.md tells
// the language.
package searchql

import "time"

// Query is a parsed search.
type Query struct {
	Root    Node     // nil when there is nothing to look for
	Filters []Filter // all of them hold for the whole query
	Notices []string // what was left out, and why
}

// Node is a *Term, an *And or an *Or.
type Node interface {
	write(w *writer, parent int)
}

// And is what all of Nodes match, at least one, and none of Not.
type And struct{ Nodes, Not []Node }

// Or is what any of Nodes match, at least two.
type Or struct{ Nodes []Node }

// Term is a word, a phrase, or a fragment.
type Term struct {
	// Text is what was typed, without quotes, marks at its ends and a final *.
	Text string
	// Fragment says that Text may stand anywhere, also inside words. Otherwise
	// its words stand one after the other, whatever is between them.
	Fragment bool
	// Prefix lets the last word go on.
	Prefix bool
}

// Field names what a filter looks at.
type Field string

// The fields of filters.
const (
	Source  Field = "source"
	Role    Field = "role"
	Model   Field = "model"   // part of the name
	Session Field = "session" // id, or the beginning of one
	Title   Field = "title"   // part of the title
	Tool    Field = "tool"
	After   Field = "after"  // at or after Time
	Before  Field = "before" // before Time
	Is      Field = "is"     // Value is "ended"
	Tag     Field = "tag"    // of the conversation
)

// Filter narrows a query. Several of one field and sign are alternatives when
// they include, and all hold when they exclude. Several tags and times all hold.
type Filter struct {
	Field Field
	Value string
	Time  time.Time // of After and Before
	Not   bool
}

// Options shape Parse. The zero value works.
type Options struct {
	Now time.Time // what relative dates count from
	// Substring makes a fragment of whatever stands between spaces or quotes.
	Substring bool
}

// What a query may hold; the rest is left out with a notice.
const (
	MaxTerms     = 64
	MaxDepth     = 16
	MaxTermChars = 2000
)

// Terms returns the terms a match must or may have, in the order typed; what is
// excluded is not among them.
func (q Query) Terms() []*Term {
	var out []*Term
	var walk func(Node)
	walk = func(n Node) {
		switch n := n.(type) {
		case *Term:
			out = append(out, n)
		case *And:
			for _, k := range n.Nodes {
				walk(k)
			}
		case *Or:
			for _, k := range n.Nodes {
				walk(k)
			}
		}
	}
	if q.Root != nil {
		walk(q.Root)
	}
	return out
}
