package searchql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokTerm tokenKind = iota
	tokOpen
	tokClose
	tokAnd
	tokOr
	tokNot
)

// token is a piece of what was typed.
type token struct {
	kind       tokenKind
	term       Term
	minus      bool // a dash that excludes stands before it
	start, end int  // in the source, without the dash
}

// lexer cuts what was typed into tokens and takes the filters out.
type lexer struct {
	src     string
	pos     int
	o       Options
	tokens  []token
	filters []Filter
	notices []string
	marks   string // East Asian punctuation passed over
}

func lex(s string, o Options) *lexer {
	l := &lexer{src: strings.ToValidUTF8(s, "\ufffd"), o: o}
	for l.pos < len(l.src) {
		l.step()
	}
	return l
}

// at returns the rune at a position, utf8.RuneError at the end.
func (l *lexer) at(i int) (rune, int) { return utf8.DecodeRuneInString(l.src[i:]) }

// freshStart reports whether nothing but a space or a parenthesis stands before
// the position.
func (l *lexer) freshStart() bool {
	if l.pos == 0 {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(l.src[:l.pos])
	return unicode.IsSpace(r) || r == '(' || r == 0
}

// step reads one token, or passes over one character.
func (l *lexer) step() {
	r, n := l.at(l.pos)
	fresh := l.freshStart()
	switch {
	case fresh && l.filter():
	case r == '"' && l.quoted("\"", "\"", false), r == '“' && l.quoted("“", "”", false):
	case l.o.Substring:
		l.fragment()
	case r == '(':
		l.add(token{kind: tokOpen, start: l.pos, end: l.pos + 1})
	case r == ')':
		l.add(token{kind: tokClose, start: l.pos, end: l.pos + 1})
	case r == '-' && fresh && l.minus():
	case wordChar(r):
		l.word(false)
	case Emoji(r):
		l.emoji(false)
	default:
		if cjkMark(r) {
			l.marks += string(r)
		}
		l.pos += n
	}
}

func (l *lexer) add(t token) {
	l.tokens = append(l.tokens, t)
	l.pos = t.end
}

// minus reads what a dash excludes, if the dash stands right before it.
func (l *lexer) minus() bool {
	l.pos++
	r, _ := l.at(l.pos)
	switch {
	case wordChar(r):
		l.word(true)
	case Emoji(r):
		l.emoji(true)
	case r == '(':
		l.add(token{kind: tokOpen, minus: true, start: l.pos, end: l.pos + 1})
	case r == '"' && l.quoted("\"", "\"", true):
	default:
		l.pos--
		return false
	}
	return true
}

// quoted reads a phrase in quotes. A quote that is not closed is nothing.
func (l *lexer) quoted(open, closing string, minus bool) bool {
	from := l.pos + len(open)
	n := strings.Index(l.src[from:], closing)
	if n < 0 {
		return false
	}
	inner := l.src[from : from+n]
	t := token{start: l.pos, end: from + n + len(closing), minus: minus}
	t.term = Term{Text: strings.TrimSpace(inner), Fragment: l.o.Substring || hasUnspaced(inner) || strings.ContainsFunc(inner, Emoji)}
	if strings.HasPrefix(l.src[t.end:], "*") {
		t.term.Prefix = !t.term.Fragment
		t.end++
	}
	if t.term.Text == "" || !t.term.Fragment && !strings.ContainsFunc(inner, wordChar) {
		for _, r := range inner {
			if cjkMark(r) {
				l.marks += string(r)
			}
		}
		l.pos = t.end
		return true
	}
	l.add(t)
	return true
}

// word reads a word, or several that marks join.
func (l *lexer) word(minus bool) {
	start, end := l.pos, l.pos
	for i := start; i < len(l.src); {
		r, n := l.at(i)
		switch {
		case wordChar(r):
			end = i + n
		case !joiner(r):
			i = len(l.src)
		}
		i += n
	}
	t := token{start: start, end: end, minus: minus, term: Term{Text: l.src[start:end]}}
	t.term.Fragment = hasUnspaced(t.term.Text)
	if strings.HasPrefix(l.src[end:], "*") {
		t.term.Prefix = !t.term.Fragment
		t.end++
	}
	if !minus && t.end == end {
		t.kind = operator(t.term.Text)
	}
	l.add(t)
}

func operator(s string) tokenKind {
	switch s {
	case "AND":
		return tokAnd
	case "OR":
		return tokOr
	case "NOT":
		return tokNot
	}
	return tokTerm
}

// emoji reads emoji that stand together. How the last one is to be shown is not
// part of what is looked for.
func (l *lexer) emoji(minus bool) {
	end := l.pos
	for end < len(l.src) {
		r, n := l.at(end)
		if !Emoji(r) && !extendsEmoji(r) {
			break
		}
		end += n
	}
	text := strings.TrimRight(l.src[l.pos:end], "\ufe0f\ufe0e\u200d")
	l.add(token{start: l.pos, end: end, minus: minus, term: Term{Text: text, Fragment: true}})
}

// fragment reads what stands up to the next space or quote.
func (l *lexer) fragment() {
	n := strings.IndexFunc(l.src[l.pos:], func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == 0 })
	if n < 0 {
		n = len(l.src) - l.pos
	}
	if n == 0 {
		l.pos++
		return
	}
	t := token{start: l.pos, end: l.pos + n, term: Term{Text: l.src[l.pos : l.pos+n], Fragment: true}}
	t.kind = operator(t.term.Text)
	l.add(t)
}
