package searchql

import (
	"strconv"
	"strings"
)

// String tells in one line how the query was read: `a AND "b-c" AND NOT *d*`,
// where *d* is found anywhere, and then the filters.
func (q Query) String() string { return q.print(writer{}) }

// Typed is the query in the language itself: parsed again, it reads the same.
func (q Query) Typed() string { return q.print(writer{typed: true}) }

func (q Query) print(w writer) string {
	if q.Root != nil {
		q.Root.write(&w, 0)
	}
	for _, f := range q.Filters {
		if w.out.Len() > 0 {
			w.out.WriteByte(' ')
		}
		w.out.WriteString(f.String())
	}
	return w.out.String()
}

// String is the filter as it is typed.
func (f Filter) String() string {
	v := f.Value
	if strings.ContainsAny(v, " )\t\n") {
		v = `"` + v + `"`
	}
	if f.Not {
		return "-" + string(f.Field) + ":" + v
	}
	return string(f.Field) + ":" + v
}

// String is the term as it is shown.
func (t *Term) String() string {
	var w writer
	t.write(&w, 0)
	return w.out.String()
}

// writer writes a query as it was read, or as it is typed.
type writer struct {
	out   strings.Builder
	typed bool
}

// The levels of binding.
const (
	inOr = iota + 1
	inAnd
)

func (t *Term) write(w *writer, _ int) {
	text := strings.Join(strings.Fields(strings.Map(printable, t.Text)), " ")
	switch {
	case t.Fragment && w.typed && !strings.ContainsRune(text, ' '):
		w.out.WriteString(text)
		return
	case t.Fragment && w.typed:
		w.out.WriteString(`"` + text + `"`)
		return
	case t.Fragment && strings.ContainsRune(text, ' '):
		w.out.WriteString(`*"` + text + `"*`)
		return
	case t.Fragment:
		w.out.WriteString("*" + text + "*")
		return
	case strings.IndexFunc(text, func(r rune) bool { return !wordChar(r) }) >= 0 || operator(text) != tokTerm:
		w.out.WriteString(`"` + text + `"`)
	default:
		w.out.WriteString(text)
	}
	if t.Prefix {
		w.out.WriteByte('*')
	}
}

func printable(r rune) rune {
	if !strconv.IsPrint(r) && !extendsEmoji(r) {
		return ' '
	}
	return r
}

func (n *And) write(w *writer, parent int) {
	if parent >= inAnd {
		w.out.WriteByte('(')
		defer w.out.WriteByte(')')
	}
	for i, k := range n.Nodes {
		switch {
		case i > 0 && w.typed:
			w.out.WriteByte(' ')
		case i > 0:
			w.out.WriteString(" AND ")
		}
		k.write(w, inAnd)
	}
	for _, k := range n.Not {
		if w.typed {
			w.out.WriteString(" NOT ")
		} else {
			w.out.WriteString(" AND NOT ")
		}
		k.write(w, inAnd)
	}
}

func (n *Or) write(w *writer, parent int) {
	if parent >= inOr {
		w.out.WriteByte('(')
		defer w.out.WriteByte(')')
	}
	for i, k := range n.Nodes {
		if i > 0 {
			w.out.WriteString(" OR ")
		}
		k.write(w, inOr)
	}
}
