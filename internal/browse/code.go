package browse

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sessiondb-go/sessiondb/internal/highlight"
)

// fence is the line that a block of code begins with.
type fence struct {
	before string // the marks: spaces, the signs of lists and quotations
	marks  string
	info   string // what is behind them: the language
}

// opens also takes lines that stand further in than CommonMark lets them: lists do
// that, of which nothing else is known here.
var opens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^((?:[ >]|[-*+] |[0-9]{1,9}[.)] )*)(`{3,}|~{3,})(.*)$")
})

func fenceOf(line string) (f fence, ok bool) {
	m := opens().FindStringSubmatch(line)
	if m == nil || m[2][0] == '`' && strings.Contains(m[3], "`") {
		return fence{}, false
	}
	return fence{before: m[1], marks: m[2], info: m[3]}, true
}

func (f fence) quoted() bool { return strings.Contains(f.before, ">") }

// code is how many of the lines behind a fence are code, and whether the one after
// them closes it. Without one that does, it is all of them, or all of a quotation.
func (f fence) code(lines []textLine) (n int, closed bool) {
	for i, l := range lines {
		if f.quoted() && !strings.HasPrefix(strings.TrimLeft(l.text, " "), ">") {
			return i, false
		}
		if f.closedBy(l.text) {
			return i, true
		}
	}
	return len(lines), false
}

// closedBy reports whether a line is a fence of the same kind, not shorter and
// with nothing behind it. Further in than by three spaces it is code.
func (f fence) closedBy(line string) bool {
	signs := " "
	if f.quoted() {
		signs = " >"
	}
	rest := strings.TrimLeft(line, signs)
	marks := strings.TrimRight(rest, " ")
	return len(line)-len(rest) <= len(f.before)+3 && len(marks) >= len(f.marks) && strings.Trim(marks, f.marks[:1]) == ""
}

// code wraps lines of code and paints what they are made of. What is in no language
// that is known has one colour.
func (s *sheet) code(f fence, lines []textLine) {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	spans := highlight.Code(f.info, strings.Join(texts, "\n"))
	if spans == nil {
		s.wrapAll(lines, code)
		return
	}
	for i, l := range highlight.Lines(spans) {
		var p painted
		for _, span := range l {
			p = append(p, piece{codeStyle[span.Kind], span.Text})
		}
		s.wrap(lines[i], p)
	}
}
