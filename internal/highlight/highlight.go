// Package highlight tells the comments, strings, keywords and numbers of code
// apart. It looks at each text once, from its beginning to its end, whatever the
// text holds, and knows nothing of colours: who shows it chooses them.
package highlight

import (
	"strings"
	"unicode/utf8"
)

// Kind is what a piece of code is.
type Kind byte

// The kinds. The zero value is all that is none of the others.
const (
	Plain Kind = iota
	Comment
	String
	Keyword
	Number
	Name // a key of data, a tag
	Added
	Removed
)

// Span is a piece of code of one kind.
type Span struct {
	Kind Kind
	Text string
}

// Max is up to how many bytes a text is looked at. A longer one is hardly what
// somebody reads.
const Max = 64 << 10

// Code cuts a text into spans, which together are the text. It returns nil where
// it does not know the language, and for a text longer than [Max]. The language is
// the first word of what stands behind a fence, such as rust,ignore.
func Code(info, text string) []Span {
	l := known()[languageOf(info)]
	if l == nil || len(text) > Max {
		return nil
	}
	s := scanner{language: l, text: text, barren: make([]int, len(l.quotes))}
	if l.scan != nil {
		l.scan(&s)
	} else {
		s.code()
	}
	s.take(Plain, len(text))
	return s.spans
}

func languageOf(info string) string {
	info = strings.TrimLeft(info, " \t{.")
	if end := strings.IndexAny(info, " \t,:{}"); end >= 0 {
		info = info[:end]
	}
	return strings.ToLower(info)
}

// Lines cuts spans at the ends of lines, which they lose.
func Lines(spans []Span) [][]Span {
	lines := [][]Span{nil}
	for _, s := range spans {
		for i, text := range strings.Split(s.Text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if text != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], Span{s.Kind, text})
			}
		}
	}
	return lines
}

// scanner goes over a text.
type scanner struct {
	*language
	text  string
	at    int // where it is
	taken int // what is before it is in spans
	spans []Span
	// barren is, for each kind of quotes, up to where none ends.
	barren []int
}

// take makes a span of what is between here and end, and one of what was passed
// over before.
func (s *scanner) take(k Kind, end int) {
	if k == Plain {
		s.at = end
	}
	if s.at > s.taken {
		s.spans = append(s.spans, Span{Plain, s.text[s.taken:s.at]})
	}
	if end > s.at {
		s.spans = append(s.spans, Span{k, s.text[s.at:end]})
	}
	s.at, s.taken = end, end
}

func (s *scanner) code() {
	for s.at < len(s.text) {
		if s.begins[s.text[s.at]] {
			if end := s.comment(); end > 0 {
				s.take(Comment, end)
				continue
			}
			if end := s.quoted(); end > 0 {
				s.take(s.orKey(String, end), end)
				continue
			}
		}
		end := s.word(s.at, s.at)
		switch c := s.text[s.at]; {
		case end == s.at:
			s.at++
		case digit(c):
			s.take(Number, end)
		default:
			if k := s.orKey(s.wordKind(s.text[s.at:end]), end); k != Plain {
				s.take(k, end)
			}
			s.at = end
		}
	}
}

// comment is the end of the comment that begins here, 0 if none does.
func (s *scanner) comment() int {
	rest := s.text[s.at:]
	for _, begin := range s.line {
		// One character, such as #, means something else within a word.
		if strings.HasPrefix(rest, begin) && (len(begin) > 1 || s.at == 0 || strings.IndexByte(" \t\n;", s.text[s.at-1]) >= 0) {
			return s.find("\n", s.at)
		}
	}
	if begin := s.block[0]; begin != "" && strings.HasPrefix(rest, begin) {
		end := s.find(s.block[1], s.at+len(begin))
		return min(end+len(s.block[1]), len(s.text))
	}
	return 0
}

// find is where something is next, or the end of the text.
func (s *scanner) find(what string, from int) int {
	if i := strings.Index(s.text[from:], what); i >= 0 {
		return from + i
	}
	return len(s.text)
}

// quoted is the end of the string that begins here, 0 if none does. What never
// ends is none: it may be an apostrophe.
func (s *scanner) quoted() int {
	for i, q := range s.quotes {
		if s.at < s.barren[i] || !strings.HasPrefix(s.text[s.at:], q.mark) {
			continue
		}
		end, closed := q.end(s.text, s.at+len(q.mark))
		if closed {
			return end
		}
		s.barren[i] = end
	}
	return 0
}

// end is where a string ends that began before a place, or how far none does.
func (q quote) end(text string, at int) (end int, closed bool) {
	if q.one {
		return q.endOfOne(text, at)
	}
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case strings.HasPrefix(text[at:], q.mark):
			return at + len(q.mark), true
		case c == '\n' && !q.lines:
			return at, false
		case c == '\\' && !q.raw:
			at++
		}
	}
	return len(text), false
}

// longestEscape is the most bytes of an escape, as \u{10ffff} is one.
const longestEscape = 12

// endOfOne is the end of a string of one character. Elsewhere the mark means
// something else, such as a lifetime.
func (q quote) endOfOne(text string, at int) (end int, closed bool) {
	_, size := utf8.DecodeRuneInString(text[at:])
	if strings.HasPrefix(text[at:], `\`) && len(text) > at+2 {
		size = 2 + max(0, strings.Index(text[at+2:min(len(text), at+longestEscape)], q.mark))
	}
	if text = text[at+size:]; size == 0 || !strings.HasPrefix(text, q.mark) {
		return at, false
	}
	return at + size + len(q.mark), true
}

// word is the end of the name or number that begins at a place, where from on is
// not known to belong to it.
func (s *scanner) word(at, from int) int {
	end := from
	for end < len(s.text) && (s.inWord(s.text[end], end > at) || s.point(end, at)) {
		end++
	}
	return end
}

// point reports whether there is the point of a number that begins at a place.
func (s *scanner) point(at, begin int) bool {
	return at > begin && s.text[at] == '.' && digit(s.text[begin]) && at+1 < len(s.text) && digit(s.text[at+1])
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) inWord(c byte, within bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', digit(c), c == '_', c >= 0x80:
		return true
	case c == '.' || c == '-':
		return within && s.keys != ""
	}
	return !within && (c == '@' || c == '$' || c == '#')
}

func (s *scanner) wordKind(word string) Kind {
	if s.anyCase {
		word = strings.ToLower(word)
	}
	if s.words[word] {
		return Keyword
	}
	return Plain
}

// orKey is Name for what stands before the sign of a key.
func (s *scanner) orKey(k Kind, end int) Kind {
	if s.keys == "" {
		return k
	}
	rest := strings.TrimLeft(s.text[end:], " \t")
	if rest == "" || strings.IndexByte(s.keys, rest[0]) < 0 {
		return k
	}
	// A colon without a space behind it, as in an address, is none of a key.
	if rest[0] == ':' && k != String && len(rest) > 1 && strings.IndexByte(" \t\n", rest[1]) < 0 {
		return k
	}
	return Name
}
