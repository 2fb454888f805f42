package text

import (
	"strings"
	"unicode/utf8"
)

// Pattern is one term of a search, to be found in a text.
type Pattern struct {
	// Text is a fragment that may stand anywhere, or the words of a phrase.
	Text     string
	Fragment bool
	Prefix   bool // the last word may go on
	// Touching tells the characters that need no space beside a word: a phrase
	// also ends where one of them stands right before or after it. Nil is none.
	Touching func(rune) bool
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Find returns where the pattern stands in a text, in order. Words are the
// tokens of the text, as [Words] gives them.
func (p Pattern) Find(s string, words []Token) []Span {
	if p.Fragment {
		return p.fragments(s, func(Span) bool { return true })
	}
	out := p.phrases(words)
	if p.Touching == nil {
		return out
	}
	touching := p.fragments(s, func(at Span) bool {
		before, _ := utf8.DecodeLastRuneInString(s[:at.Start])
		after, _ := utf8.DecodeRuneInString(s[at.End:])
		free := !isWord(before) && !dropsAccent(after)
		ends := p.Prefix || p.Touching(after) || !isWord(after) && !dropsAccent(after)
		return p.Touching(before) && ends || free && !p.Prefix && p.Touching(after)
	})
	return merge(out, touching)
}

// phrases finds the words of the pattern one after the other.
func (p Pattern) phrases(words []Token) (out []Span) {
	want := Words(p.Text)
	if len(want) == 0 {
		return nil
	}
	for i := 0; i+len(want) <= len(words); i++ {
		if p.phraseAt(want, words[i:]) {
			out = append(out, Span{words[i].Start, words[i+len(want)-1].End})
		}
	}
	return out
}

func (p Pattern) phraseAt(want, words []Token) bool {
	last := len(want) - 1
	for i, w := range want[:last] {
		if words[i].Word != w.Word {
			return false
		}
	}
	if p.Prefix {
		return strings.HasPrefix(words[last].Word, want[last].Word)
	}
	return words[last].Word == want[last].Word
}

// fragments finds the text of the pattern anywhere, where ok.
func (p Pattern) fragments(s string, ok func(Span) bool) (out []Span) {
	want := []rune(p.Text)
	for i, r := range want {
		want[i] = foldChar(r)
	}
	if len(want) == 0 {
		return nil
	}
	for i, r := range s {
		if foldChar(r) != want[0] {
			continue
		}
		if n, found := runesAt(s[i:], want); found && ok(Span{i, i + n}) {
			out = append(out, Span{i, i + n})
		}
	}
	return out
}

// runesAt reports whether s begins with want, and how many bytes that takes.
func runesAt(s string, want []rune) (n int, ok bool) {
	for _, w := range want {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || foldChar(r) != w {
			return 0, false
		}
		n += size
	}
	return n, true
}

// merge joins two lists of spans in order, without doubles.
func merge(a, b []Span) []Span {
	if len(b) == 0 {
		return a
	}
	out := make([]Span, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && (a[0].Start < b[0].Start || a[0] == b[0]):
			if len(b) > 0 && a[0] == b[0] {
				b = b[1:]
			}
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// In reports whether the pattern stands in a text.
func (p Pattern) In(s string) bool {
	var words []Token
	if !p.Fragment {
		words = Words(s)
	}
	return len(p.Find(s, words)) > 0
}
