package text

import (
	"errors"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON. It leaves room for what encloses a value
// below the 10,000 levels that encoding/json reads.
const maxDepth = 9000

var errJSON = errors.New("malformed JSON")

// AppendCompact appends one JSON value in the form in which it is stored: no
// spaces, and characters as UTF-8, not as \u escapes. Control characters, also
// those above ASCII, and the line separators are escaped. Key order, duplicate
// keys and the spelling of numbers stay. What is not UTF-8, and a lone
// surrogate, becomes U+FFFD. Malformed JSON is an error; dst is then returned
// as it was.
func AppendCompact[T string | []byte](dst []byte, src T) ([]byte, error) {
	c := compactor[T]{src: src, dst: dst}
	if !c.run() {
		return dst, errJSON
	}
	return c.dst, nil
}

// ValidJSON reports whether src is one JSON value.
func ValidJSON[T string | []byte](src T) bool {
	c := compactor[T]{src: src, dry: true}
	return c.run()
}

type compactor[T string | []byte] struct {
	src   T
	i     int
	dst   []byte
	dry   bool   // only validate
	items int    // of the outermost list
	open  []byte // the brackets around i
	first [64]byte
}

func (c *compactor[T]) run() bool {
	c.open = c.first[:0]
	for {
		if !c.value() {
			return false
		}
		done, ok := c.after()
		if done || !ok {
			return ok
		}
	}
}

// value reads a scalar, an empty container, or the brackets and keys that lead
// to one.
func (c *compactor[T]) value() bool {
	for {
		if len(c.open) == 1 && c.peek() != ']' {
			c.items++
		}
		switch b := c.next(); {
		case b == '{' || b == '[':
			if len(c.open) >= maxDepth {
				return false
			}
			c.emit(b)
			c.open = append(c.open, b)
			if c.peek() == b+2 { // ']' and '}' stand two after their partners
				return true
			}
			if b == '{' && !c.key() {
				return false
			}
		case b == '"':
			return c.text()
		case b == '-' || b >= '0' && b <= '9':
			c.i--
			return c.number()
		default:
			return c.literal(b)
		}
	}
}

// after reads what follows a value: closing brackets, then a comma or the end.
func (c *compactor[T]) after() (done, ok bool) {
	for len(c.open) > 0 {
		top := c.open[len(c.open)-1]
		switch b := c.next(); b {
		case ',':
			c.emit(',')
			return false, top == '[' || c.key()
		case top + 2:
			c.emit(b)
			c.open = c.open[:len(c.open)-1]
		default:
			return false, false
		}
	}
	c.peek()
	return true, c.i == len(c.src)
}

func (c *compactor[T]) key() bool {
	if c.next() != '"' || !c.text() || c.next() != ':' {
		return false
	}
	c.emit(':')
	return true
}

func (c *compactor[T]) emit(b byte) {
	if !c.dry {
		c.dst = append(c.dst, b)
	}
}

// peek skips white space and returns the byte there, 0 at the end.
func (c *compactor[T]) peek() byte {
	for ; c.i < len(c.src); c.i++ {
		switch b := c.src[c.i]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// next is peek that goes on.
func (c *compactor[T]) next() byte {
	b := c.peek()
	if c.i < len(c.src) {
		c.i++
	}
	return b
}

func (c *compactor[T]) literal(b byte) bool {
	var word string
	switch b {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		return false
	}
	from := c.i - 1
	if len(c.src)-from < len(word) || string(c.src[from:from+len(word)]) != word {
		return false
	}
	c.i = from + len(word)
	return c.copy(from)
}

// copy emits what stands since from.
func (c *compactor[T]) copy(from int) bool {
	if !c.dry {
		c.dst = append(c.dst, c.src[from:c.i]...)
	}
	return true
}

func (c *compactor[T]) number() bool {
	from := c.i
	if c.is('-') {
		c.i++
	}
	if c.is('0') {
		c.i++
	} else if !c.digits() {
		return false
	}
	if c.is('.') {
		if c.i++; !c.digits() {
			return false
		}
	}
	if c.is('e') || c.is('E') {
		c.i++
		if c.is('+') || c.is('-') {
			c.i++
		}
		if !c.digits() {
			return false
		}
	}
	return c.copy(from)
}

func (c *compactor[T]) is(b byte) bool { return c.i < len(c.src) && c.src[c.i] == b }

func (c *compactor[T]) digits() bool {
	from := c.i
	for c.i < len(c.src) && c.src[c.i] >= '0' && c.src[c.i] <= '9' {
		c.i++
	}
	return c.i > from
}

// text reads a string whose opening quote has been read.
func (c *compactor[T]) text() bool {
	c.emit('"')
	for from := c.i; c.i < len(c.src); {
		b := c.src[c.i]
		if class[b] == plain {
			c.i++
			continue
		}
		switch {
		case b == '"':
			c.i++
			return c.copy(from)
		case b < ' ':
			return false
		case b == '\\':
			c.copy(from)
			if !c.escape() {
				return false
			}
			from = c.i
		default:
			r, n, ok := special(c.src, c.i)
			if ok {
				c.i += n
				continue
			}
			c.copy(from)
			c.rune(r)
			c.i += n
			from = c.i
		}
	}
	return false
}

func (c *compactor[T]) rune(r rune) {
	if !c.dry {
		c.dst = appendRune(c.dst, r)
	}
}

// escape reads an escape sequence; c.i is at the backslash.
func (c *compactor[T]) escape() bool {
	if c.i+1 >= len(c.src) {
		return false
	}
	b := c.src[c.i+1]
	switch b {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		from := c.i
		c.i += 2
		return c.copy(from)
	case '/':
		c.i += 2
		c.emit('/')
		return true
	case 'u':
		r, ok := hex4(c.src, c.i)
		c.i += 6
		if ok && isSurrogate(r) {
			r = c.surrogate(r)
		}
		if ok {
			c.rune(r)
		}
		return ok
	}
	return false
}

// surrogate joins the two halves of a character, or gives U+FFFD.
func (c *compactor[T]) surrogate(high rune) rune {
	low, ok := hex4(c.src, c.i)
	if ok && high < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
		c.i += 6
		return (high-0xD800)<<10 | (low - 0xDC00) + 0x10000
	}
	return utf8.RuneError
}

func isSurrogate(r rune) bool { return r >= 0xD800 && r <= 0xDFFF }

// hex4 reads \uXXXX at i.
func hex4[T string | []byte](s T, i int) (r rune, ok bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	for _, b := range []byte(s[i+2 : i+6]) {
		switch {
		case b >= '0' && b <= '9':
			b -= '0'
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}
