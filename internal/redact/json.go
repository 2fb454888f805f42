package redact

import (
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// kept are members of a session or a message that tell what it is and where it
// belongs. They are never masked.
var kept = []string{"id", "session_id", "parent_session_id", "source", "kind", "role", "timestamp", "started_at", "ended_at"}

// maxNesting bounds how deep JSON within the strings of JSON is looked at as
// such.
const maxNesting = 8

// frame is a container around the place that a walk has reached.
type frame struct {
	list bool
	key  bool   // a key comes next
	name string // the last key
	says string // the last text that may name the next: of "name", or of an item
}

// walk copies JSON with its strings masked. All else stays as it is, also
// spaces. JSON in a string is walked over in turn, so that it stays JSON.
type walk struct {
	*masker
	dst     []byte
	nesting int
	columns bool // the outermost members are columns
	frames  []frame
}

// object appends a JSON object of columns with its strings masked.
func (m *masker) object(dst, src []byte) []byte {
	w := walk{masker: m, dst: dst, columns: true}
	w.run(src)
	return w.dst
}

// run goes over valid JSON.
func (w *walk) run(src []byte) {
	from := 0
	for i := 0; i < len(src); i++ {
		switch b := src[i]; b {
		case '{', '[':
			w.frames = append(w.frames, frame{list: b == '[', key: b == '{'})
		case '}', ']':
			w.frames = w.frames[:len(w.frames)-1]
		case ',':
			if top := w.top(); top != nil && !top.list {
				top.key = true
			}
		case '"':
			to := endOfString(src, i)
			w.dst = append(w.dst, src[from:i]...)
			w.dst = w.text(w.dst, src[i:to])
			from, i = to, to-1
		}
	}
	w.dst = append(w.dst, src[from:]...)
}

func (w *walk) top() *frame {
	if len(w.frames) == 0 {
		return nil
	}
	return &w.frames[len(w.frames)-1]
}

// endOfString is behind the quote that ends the string at i.
func endOfString(src []byte, i int) int {
	for i++; src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// text appends a string, masked.
func (w *walk) text(dst, raw []byte) []byte {
	says := text.Unquote(raw)
	top := w.top()
	if top != nil && top.key {
		top.key, top.name = false, says
		if w.columns && len(w.frames) == 1 {
			return append(dst, raw...)
		}
		return appendMasked(dst, raw, says, w.mask("", says))
	}
	if w.columns && len(w.frames) == 1 && slices.Contains(kept, top.name) {
		return append(dst, raw...)
	}
	before := w.before()
	if top != nil && (top.list || nameKeys[strings.ToLower(top.name)]) {
		top.says = says
	}
	return appendMasked(dst, raw, says, w.value(before, says))
}

func appendMasked(dst, raw []byte, before, after string) []byte {
	if before == after {
		return append(dst, raw...)
	}
	return text.AppendString(dst, after)
}

// Members that name what the member "value" beside them holds.
var nameKeys = map[string]bool{"name": true, "key": true, "variable": true, "header": true}

// before is what stands before a value if it tells what the value is.
func (w *walk) before() string {
	if len(w.frames) == 0 || w.columns && len(w.frames) == 1 {
		return ""
	}
	top := w.top()
	name := top.name
	switch {
	case top.list && strings.HasPrefix(top.says, "-"):
		name = top.says // a flag and its value
	case top.list && len(w.frames) > 1:
		name = w.frames[len(w.frames)-2].name
	case name == "value" && top.says != "":
		name = top.says
	}
	if name == "" || len(name) > 100 {
		return ""
	}
	return `"` + name + `": "`
}

// value masks a text, or the strings in it if it is JSON.
func (w *walk) value(before, says string) string {
	if w.nesting < maxNesting && isContainer(says) {
		inner := walk{masker: w.masker, nesting: w.nesting + 1}
		inner.run([]byte(says))
		return string(inner.dst)
	}
	return w.mask(before, says)
}

// isContainer tells a JSON object or list.
func isContainer(s string) bool {
	t := strings.Trim(s, " \t\r\n")
	n := len(t)
	return n > 2 && (t[0] == '{' && t[n-1] == '}' || t[0] == '[' && t[n-1] == ']') && text.ValidJSON(s)
}
