package text

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The marks of a snippet, and how many tokens it has at most.
const (
	snippetOpen   = ">>>"
	snippetClose  = "<<<"
	snippetCut    = "..."
	snippetTokens = 40
)

// Snippet cuts out the part of a text that shows the most of the patterns, and
// marks where they stand. It chooses as SQLite's FTS5 does: different patterns
// count most, and a sentence is rather begun at its beginning.
func Snippet(s string, patterns []Pattern) string {
	t := tokenLists.Get().(*tokenList)
	defer t.free()
	t.words = appendWords(t.words, s)
	spans := make([][]Span, len(patterns))
	for i, p := range patterns {
		spans[i] = p.Find(s, t.words)
	}
	d := newDocument(s, t, patterns, spans)
	return d.render(d.best())
}

// tokenList is room for the tokens of a text, which many snippets use in turn: a
// page of hits would else touch much fresh memory.
type tokenList struct{ words, fine []Token }

var tokenLists = sync.Pool{New: func() any { return &tokenList{} }}

// keptTokens bounds the room that is kept.
const keptTokens = 4096

// free gives the room back, without the texts that the tokens are of.
func (t *tokenList) free() {
	if cap(t.words)+cap(t.fine) > keptTokens {
		return
	}
	clear(t.words)
	clear(t.fine)
	t.words, t.fine = t.words[:0], t.fine[:0]
	tokenLists.Put(t)
}

// instance is a place of a pattern, in tokens.
type instance struct{ pattern, first, size int }

// document is a text being cut.
type document struct {
	s         string
	tokens    []Token
	instances []instance
	sentences []int // tokens that begin one
}

func newDocument(s string, t *tokenList, patterns []Pattern, spans [][]Span) *document {
	d := &document{s: s, tokens: t.words}
	switch {
	case trigramsOnly(patterns):
		d.tokens = Trigrams(s)
	case !aligned(t.words, spans):
		t.fine = appendFine(t.fine, s, t.words, spans)
		d.tokens = t.fine
	}
	for i, list := range spans {
		for _, at := range list {
			first, _ := slices.BinarySearchFunc(d.tokens, at.Start, func(t Token, pos int) int { return t.Start - pos })
			size := 1
			if trigramsOnly(patterns) {
				size = utf8.RuneCountInString(s[at.Start:at.End]) - 2
			} else {
				for first+size < len(d.tokens) && d.tokens[first+size].Start < at.End {
					size++
				}
			}
			d.instances = append(d.instances, instance{i, first, size})
		}
	}
	slices.SortStableFunc(d.instances, func(a, b instance) int { return a.first - b.first })
	d.findSentences()
	return d
}

// trigramsOnly reports whether the fragment index alone answers the patterns.
func trigramsOnly(patterns []Pattern) bool {
	for _, p := range patterns {
		if !p.Fragment || utf8.RuneCountInString(p.Text) < 3 {
			return false
		}
	}
	return true
}

// aligned reports whether every span begins and ends with a word.
func aligned(words []Token, spans [][]Span) bool {
	for _, list := range spans {
		for _, at := range list {
			i, ok := slices.BinarySearchFunc(words, at.Start, func(t Token, pos int) int { return t.Start - pos })
			if !ok {
				return false
			}
			for i < len(words) && words[i].End < at.End {
				i++
			}
			if i == len(words) || words[i].End != at.End {
				return false
			}
		}
	}
	return true
}

// appendFine appends words, cut so that every span begins and ends with a token, and
// so that long runs of letters without a space count for what they are.
func appendFine(out []Token, s string, words []Token, spans [][]Span) []Token {
	cuts := map[int]bool{}
	var extra []Token
	for _, list := range spans {
		for _, at := range list {
			cuts[at.Start], cuts[at.End] = true, true
			extra = append(extra, Token{Start: at.Start, End: at.End})
		}
	}
	for _, w := range words {
		start := w.Start
		for i, r := range s[w.Start:w.End] {
			if i += w.Start; i > start && (cuts[i] || r >= 0x0e00 || i-start >= 32) {
				out = append(out, Token{Start: start, End: i})
				start = i
			}
		}
		out = append(out, Token{Start: start, End: w.End})
	}
	return withTokens(out, extra)
}

// withTokens adds the spans that begin where no token does: a span without a
// letter, such as an emoji, is a token too. It ends where the next one begins.
func withTokens(tokens, spans []Token) []Token {
	words := len(tokens)
	for _, t := range spans {
		if _, ok := slices.BinarySearchFunc(tokens[:words], t.Start, func(o Token, pos int) int { return o.Start - pos }); !ok {
			tokens = append(tokens, Token{Start: t.Start, End: t.End})
		}
	}
	byStart := func(a, b Token) int { return a.Start - b.Start }
	slices.SortStableFunc(tokens, byStart)
	tokens = slices.CompactFunc(tokens, func(a, b Token) bool { return a.Start == b.Start })
	for i := range tokens[:max(len(tokens)-1, 0)] {
		tokens[i].End = min(tokens[i].End, tokens[i+1].Start)
	}
	return tokens
}

// findSentences finds the tokens that stand at the beginning, or after a full
// stop or colon and white space.
func (d *document) findSentences() {
	for i, t := range d.tokens {
		if i == 0 {
			d.sentences = append(d.sentences, 0)
			continue
		}
		before := strings.TrimRight(d.s[:t.Start], " \t\r\n")
		if n := len(before); n > 0 && n < t.Start && (before[n-1] == '.' || before[n-1] == ':') {
			d.sentences = append(d.sentences, i)
		}
	}
}

// score rates the tokens from a place on, and tells where the snippet should
// begin to have its matches in the middle.
func (d *document) score(from int) (score, begin int) {
	seen := make(map[int]bool, 4)
	first, last := -1, 0
	at, _ := slices.BinarySearchFunc(d.instances, from, func(in instance, token int) int { return in.first - token })
	for _, in := range d.instances[at:] {
		if in.first >= from+snippetTokens {
			break
		}
		if seen[in.pattern] {
			score++
		} else {
			score += 1000
			seen[in.pattern] = true
		}
		if first < 0 {
			first = in.first
		}
		last = in.first + in.size
	}
	begin = first - (snippetTokens-(last-first))/2
	return score, max(0, min(begin, len(d.tokens)-snippetTokens))
}

// best returns the token that the snippet begins with.
func (d *document) best() int {
	best, begin := 0, 0
	for _, in := range d.instances {
		if score, at := d.score(in.first); score > best {
			best, begin = score, at
		}
		if len(d.tokens) <= snippetTokens {
			continue
		}
		k, ok := slices.BinarySearch(d.sentences, in.first)
		if !ok {
			k--
		}
		if at := d.sentences[max(k, 0)]; at < in.first {
			score, _ := d.score(at)
			if score += 100; at == 0 {
				score += 20
			}
			if score > best {
				best, begin = score, at
			}
		}
	}
	return begin
}

// coalesced joins the instances that overlap, as ranges of tokens.
func (d *document) coalesced() (out [][2]int) {
	for _, in := range d.instances {
		end := in.first + in.size - 1
		if n := len(out); n > 0 && in.first <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], end)
			continue
		}
		out = append(out, [2]int{in.first, end})
	}
	return out
}

// render writes the tokens from begin on, marking the instances.
func (d *document) render(begin int) string {
	var b strings.Builder
	n := len(d.tokens)
	end := begin + snippetTokens - 1
	pos := 0
	if begin > 0 {
		b.WriteString(snippetCut)
		pos = d.tokens[begin].Start
	}
	for _, m := range d.coalesced() {
		first, last := max(m[0], begin), min(m[1], end, n-1)
		if m[0] < begin || first > end || first > last {
			continue
		}
		if start := d.tokens[first].Start; start >= pos {
			b.WriteString(d.s[pos:start])
			pos = start
		}
		b.WriteString(snippetOpen)
		b.WriteString(d.s[pos:d.tokens[last].End])
		b.WriteString(snippetClose)
		pos = d.tokens[last].End
	}
	if end >= n-1 {
		b.WriteString(d.s[pos:])
	} else {
		if stop := d.tokens[end].End; stop > pos {
			b.WriteString(d.s[pos:stop])
		}
		b.WriteString(snippetCut)
	}
	return strings.ReplaceAll(b.String(), "\x00", "")
}
