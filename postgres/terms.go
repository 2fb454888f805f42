package postgres

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// The terms of a message are made by the code that also judges and marks matches,
// not by a parser of the server, so that a word is here what it is in a file.
// They are the words of what is stored and of what a person reads, in order, and
// every three characters of both. A tsvector has room for about a megabyte, for
// 255 places of a word and for places up to 16383: more text makes more parts,
// which overlap, so that what stands side by side does so in one of them.
const (
	maxPartWords = 16000
	maxPartBytes = 400 << 10
	maxPlaces    = 250
	overlapWords = 1000
	maxPartGrams = 40000 // different ones
	maxLexeme    = 1000  // bytes; longer words are told apart by that much
	gramChars    = 3
)

// part is a row of sessiondb_terms, each column as a tsvector is typed.
type part struct{ words, grams string }

// said is the text of a message as it is stored.
type said struct{ content, toolName, toolCalls string }

// forms are what is stored and what a person reads, where that is another text.
func (m said) forms() []string {
	raw := m.content + " " + m.toolName + " " + m.toolCalls
	readable := text.Readable(m.content, m.toolName, m.toolCalls)
	if raw == readable {
		return []string{raw}
	}
	return []string{raw, readable}
}

// parts makes the terms of a message.
func (m said) parts() []part {
	forms := m.forms()
	words, grams := wordParts(forms), gramParts(forms)
	out := make([]part, max(len(words), len(grams)))
	for i := range words {
		out[i].words = words[i]
	}
	for i := range grams {
		out[i].grams = grams[i]
	}
	return out
}

// wordsAlone is parts without the fragments.
func (m said) wordsAlone() (out []part) {
	for _, w := range wordParts(m.forms()) {
		out = append(out, part{words: w})
	}
	return out
}

// placed is a word and its place in the order of words.
type placed struct {
	word  string
	place int
}

// wordParts are the words of texts. Between two texts a place is left free, so
// that no phrase reaches across.
func wordParts(forms []string) (out []string) {
	var all []placed
	place := 0
	for _, s := range forms {
		for _, t := range text.Words(s) {
			place++
			all = appendWord(all, t.Word, place)
		}
		place++
	}
	for len(all) > 0 {
		n := partLength(all)
		out = append(out, wordVector(all[:n]))
		if n == len(all) {
			break
		}
		all = all[n-min(overlapWords, n/2):]
	}
	return out
}

// appendWord appends a word, and what of it stands between characters that need
// no space beside a word.
func appendWord(all []placed, word string, place int) []placed {
	all = append(all, placed{lexeme(word), place})
	if strings.IndexFunc(word, touches) < 0 {
		return all
	}
	for _, piece := range strings.FieldsFunc(word, touches) {
		all = append(all, placed{lexeme(piece), place})
	}
	return all
}

// touches reports whether a word needs no space beside r.
func touches(r rune) bool { return searchql.Unspaced(r) || searchql.Emoji(r) }

// lexeme is a word as it is compared.
func lexeme(word string) string {
	if len(word) > maxLexeme {
		word = strings.ToValidUTF8(word[:maxLexeme], "")
	}
	return word
}

// partLength is how many of the words fit in one part.
func partLength(all []placed) int {
	places := map[string]int{}
	bytes := 0
	for i, p := range all {
		if places[p.word]++; places[p.word] == 1 {
			bytes += len(p.word)
		}
		if i > 0 && (places[p.word] > maxPlaces || bytes > maxPartBytes || p.place-all[0].place >= maxPartWords) {
			return i
		}
	}
	return len(all)
}

func wordVector(words []placed) string {
	places := map[string][]byte{}
	for _, p := range words {
		list := places[p.word]
		if list != nil {
			list = append(list, ',')
		}
		places[p.word] = strconv.AppendInt(list, int64(p.place-words[0].place+1), 10)
	}
	var b strings.Builder
	for word, list := range places {
		b.WriteString(quoteLexeme(word) + ":")
		b.Write(list)
		b.WriteByte(' ')
	}
	return b.String()
}

// gramParts are every three characters of texts. Each text ends in spaces, so
// that its last two characters begin a fragment too. A long text is cut so that
// the longest term of a query stands in one part, wherever it does.
func gramParts(forms []string) (out []string) {
	seen := map[string]bool{}
	flush := func() {
		list := make([]string, 0, len(seen))
		for g := range seen {
			list = append(list, quoteLexeme(g))
		}
		out = append(out, strings.Join(list, " "))
		clear(seen)
	}
	for _, s := range forms {
		for piece := range pieces(text.FoldFragment(s)+"  ", maxPartGrams, searchql.MaxTermChars) {
			if len(seen) > 0 && len(seen)+utf8.RuneCountInString(piece) > maxPartGrams {
				flush()
			}
			eachGram(piece, func(g string) { seen[g] = true })
		}
	}
	if len(seen) > 0 {
		flush()
	}
	return out
}

// pieces cuts a text into pieces of up to n characters that overlap.
func pieces(s string, n, overlap int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for utf8.RuneCountInString(s) > n {
			end, next := runeStart(s, n), runeStart(s, n-overlap)
			if !yield(s[:end]) {
				return
			}
			s = s[next:]
		}
		yield(s)
	}
}

// runeStart is where the character number n begins.
func runeStart(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// eachGram calls fn for every three characters.
func eachGram(s string, fn func(string)) {
	var at [gramChars]int // where the last characters begin
	n := 0
	for i := range s {
		if n >= gramChars {
			fn(s[at[n%gramChars]:i])
		}
		at[n%gramChars] = i
		n++
	}
	if n >= gramChars {
		fn(s[at[n%gramChars]:])
	}
}

// gramsOf are the fragments that a text of a query is found by: all of it where
// it has up to three characters.
func gramsOf(s string) (out []string) {
	if utf8.RuneCountInString(s) < gramChars {
		return []string{s}
	}
	eachGram(s, func(g string) { out = append(out, g) })
	return out
}

var lexemeQuoter = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// quoteLexeme is a word in a tsvector or a tsquery.
func quoteLexeme(s string) string { return `'` + lexemeQuoter.Replace(encodeText(s)) + `'` }
