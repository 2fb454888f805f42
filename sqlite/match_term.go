package sqlite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
	"github.com/sessiondb-go/sessiondb/internal/text"
)

// quote makes a string of FTS5, which is a phrase of the tokens in it.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", " "), `"`, `""`) + `"`
}

// scan is a query for the messages that a term matches, among those of a
// condition, without an index.
func (c *compiler) scan(t *searchql.Term, cond string) source {
	f := fragment{`SELECT m.id AS id FROM messages m WHERE ` + cond + ` AND ` + matchesCall, []any{encodeTerm(t, false)}}
	if c.within.listed() {
		f = among(t, c.within.all()).query
		return source{query: fragment{f.sql + ` AND ` + cond, f.args}}
	}
	return source{query: c.within.between(f, `m.id`)}
}

// verified is a query for the messages that an expression finds and that the
// term matches too. Columns may tell before that is tried.
func (c *compiler) verified(t *searchql.Term, expr, cond string, structuredOnly bool) source {
	return source{query: c.within.limit(fragment{
		`SELECT m.id AS id FROM ` + wordIndex + ` CROSS JOIN messages m ON m.id = ` + wordIndex + `.rowid
 WHERE ` + wordIndex + ` MATCH ? AND ` + cond + ` AND ` + matchesCall,
		[]any{expr, encodeTerm(t, structuredOnly)},
	}, wordIndex+`.rowid`)}
}

// addPrimary finds the first sources of every term: the index made for it, or a
// scan of what that lacks.
func (c *compiler) addPrimary(root searchql.Node) error {
	return walk(root, func(t *searchql.Term) error {
		sources, err := c.primary(t)
		if known, ok := c.known[t]; ok && err == nil {
			sources[0] = known
		}
		c.terms[t] = &termPlan{sources}
		return err
	})
}

func (c *compiler) primary(t *searchql.Term) ([]source, error) {
	if t.Fragment {
		return c.fragmentSources(t), nil
	}
	return c.wordSources(t)
}

func (c *compiler) wordSources(t *searchql.Term) ([]source, error) {
	ix := c.indexes.words
	if ix == nil {
		return []source{c.scan(t, "1")}, nil
	}
	expr := quote(t.Text)
	if t.Prefix {
		spelled, err := c.spelledOut(t)
		if err != nil {
			return nil, err
		}
		expr = cmp.Or(spelled, expr+" *")
	}
	out := []source{{index: wordIndex, expr: expr}}
	if ix.contentOnly {
		out = append(out, c.scan(t, "(m.tool_name IS NOT NULL OR m.tool_calls IS NOT NULL)"))
	}
	return out, nil
}

func (c *compiler) fragmentSources(t *searchql.Term) []source {
	ix := c.indexes.grams
	n := utf8.RuneCountInString(t.Text)
	if ix == nil || n < 3 && (!ix.padded || strings.ContainsRune(t.Text, 0)) {
		return []source{c.scan(t, "1")}
	}
	var out []source
	if n >= 3 {
		out = append(out, source{index: gramIndex, expr: quote(t.Text)})
	} else {
		out = append(out, source{query: c.beginning(t.Text), whole: true})
	}
	if ix.contentOnly {
		out = append(out, c.scan(t, "(m.tool_name IS NOT NULL OR m.tool_calls IS NOT NULL)"))
	}
	if ix.noTools {
		out = append(out, c.scan(t, "m.role = 'tool'"))
	}
	return out
}

// addExtras finds the other ways in which a term can stand in a message:
// escaped, in structured content, against a script without spaces.
func (c *compiler) addExtras(root searchql.Node) error {
	return walk(root, func(t *searchql.Term) error {
		switch words, grams := c.indexes.words, c.indexes.grams; {
		case t.Fragment && grams == nil, !t.Fragment && words == nil:
			return nil // all messages are read as it is
		case words == nil:
			c.terms[t].sources = append(c.terms[t].sources, c.scan(t, escapable))
			return nil
		}
		finders := []func(*searchql.Term) ([]source, error){c.escaped, c.structured}
		if !t.Fragment {
			finders = []func(*searchql.Term) ([]source, error){c.escaped, c.glued, c.inside, c.structured}
		}
		for _, find := range finders {
			more, err := find(t)
			if err != nil {
				return err
			}
			c.terms[t].sources = append(c.terms[t].sources, more...)
		}
		return nil
	})
}

// escapable tells the messages that can hold escapes: those with tool calls or
// structured content, which begins with NUL.
const escapable = `(m.tool_calls IS NOT NULL OR m.content < char(1))`

// escaped finds text that was stored as \u escapes. Each escape begins a word,
// since the backslash separates.
func (c *compiler) escaped(t *searchql.Term) ([]source, error) {
	var exprs []string
	variants := []string{strings.ToLower(t.Text), strings.ToUpper(t.Text), t.Text}
	slices.Sort(variants)
	for _, variant := range slices.Compact(variants) {
		run := longestEscaped(variant)
		if len(run) == 0 {
			return nil, nil
		}
		ok, err := c.hasWord(run[0], true)
		if err != nil {
			return nil, err
		}
		if ok {
			exprs = append(exprs, `"`+strings.Join(run, " ")+`" *`)
		}
	}
	if len(exprs) == 0 {
		return nil, nil
	}
	return []source{c.verified(t, strings.Join(exprs, " OR "), escapable, false)}, nil
}

// longestEscaped returns the words that the longest run of characters beyond
// ASCII makes when it is escaped.
func longestEscaped(s string) (longest []string) {
	var run []string
	for _, r := range s {
		if r < utf8.RuneSelf {
			run = nil
			continue
		}
		if hi, lo := utf16Pair(r); lo != 0 {
			run = append(run, fmt.Sprintf("u%04x", hi), fmt.Sprintf("u%04x", lo))
		} else {
			run = append(run, fmt.Sprintf("u%04x", r))
		}
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

func utf16Pair(r rune) (hi, lo rune) {
	if r < 0x10000 {
		return r, 0
	}
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// maxStructured is how many messages of structured content are read for a word,
// which is there for the word index but where it has no space beside it.
const maxStructured = 300

// markedSQL counts the messages of structured content, until there are too many.
const markedSQL = `SELECT COUNT(*) FROM (SELECT 1 FROM ` + wordIndex + ` WHERE ` + wordIndex + ` MATCH '^ "json"' LIMIT ?)`

// structured finds terms in structured content. The fragment index ends at the
// NUL that such content begins with, but the word index knows its mark.
func (c *compiler) structured(t *searchql.Term) ([]source, error) {
	if c.marked == nil {
		var n int
		if err := c.q.QueryRow(c.ctx, markedSQL, maxStructured+1).Scan(&n); err != nil {
			return nil, err
		}
		c.marked = &n
	}
	if *c.marked == 0 || !t.Fragment && *c.marked > maxStructured {
		return nil, nil
	}
	return []source{c.verified(t, `^ "json"`, `m.content < char(1)`, true)}, nil
}

// glued finds words that follow an escape for white space, which the word index
// takes as one word with the letter of the escape.
func (c *compiler) glued(t *searchql.Term) ([]source, error) {
	words := text.Words(t.Text)
	if len(words) == 0 {
		return nil, nil
	}
	var exprs []string
	for _, letter := range []string{"n", "t", "r"} {
		ok, err := c.hasWord(letter+words[0].Word, t.Prefix && len(words) == 1)
		if err != nil {
			return nil, err
		}
		if ok {
			expr := quote(letter + t.Text[words[0].Start:])
			if t.Prefix {
				expr += " *"
			}
			exprs = append(exprs, expr)
		}
	}
	if len(exprs) == 0 {
		return nil, nil
	}
	return []source{c.verified(t, strings.Join(exprs, " OR "), escapable, false)}, nil
}

// maxVerified is how many messages are read to see where in them a word stands.
const maxVerified = 3000

// inside finds words within what the word index takes for a longer word: beside
// a character of a script without spaces, an emoji, or an escape. Where the
// fragment index has few candidates they are read; else the neighbours that a
// word can have are tried.
func (c *compiler) inside(t *searchql.Term) ([]source, error) {
	if c.indexes.grams == nil {
		return nil, nil
	}
	if utf8.RuneCountInString(t.Text) >= 3 {
		few, ok, err := c.fewCandidates(t)
		if err != nil {
			return nil, err
		}
		if ok {
			return []source{among(t, few)}, nil
		}
	}
	if !c.indexes.grams.padded {
		return nil, nil
	}
	return c.touching(t)
}

// fewCandidates is a query for the messages that hold a word as a fragment and were not
// found by the index of words, if they are not too many to be read.
func (c *compiler) fewCandidates(t *searchql.Term) (few fragment, ok bool, err error) {
	if c.candidates != nil {
		ids, err := c.candidates(t)
		return listed(ids), len(ids) <= maxVerified, err
	}
	found, known := c.find(gramIndex, quote(t.Text)), c.sourceSet(c.terms[t].sources[0])
	few = fragment{`SELECT id FROM (` + found.sql + `) WHERE +id NOT IN (` + known.sql + `)`, join(found.args, known.args)}
	if c.within.listed() {
		ids, err := c.listIDs(few, maxVerified)
		if ids == nil || err != nil {
			return few, false, err
		}
		return ids.all(), true, nil
	}
	many, err := c.moreThan(few, maxVerified)
	return few, !many, err
}

// maxTouching bounds the characters that are tried on each side of a word.
const maxTouching = 300

// touching finds words that stand right before or after a character of a script
// without spaces, or an emoji.
func (c *compiler) touching(t *searchql.Term) ([]source, error) {
	typed := []rune(t.Text)
	pairs, err := c.pairs(t)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	var candidates fragment
	if len(typed) == 1 {
		// With one character beside it, a letter is too short for the index.
		var sets []fragment
		for _, pair := range pairs[:min(len(pairs), maxTouching)] {
			sets = append(sets, c.beginning(pair))
		}
		candidates = union(sets)
	} else {
		var quoted []string
		for _, pair := range pairs {
			quoted = append(quoted, quote(pair))
		}
		expr := strings.Join(quoted, " OR ")
		if len(typed) > 2 { // the pairs are of its ends alone
			expr = "(" + expr + ") AND " + quote(t.Text)
		}
		candidates = c.find(gramIndex, expr)
	}
	return []source{among(t, candidates)}, nil
}

// pairs are the two characters at an end of a word, or the one it has, with each
// character that may touch them: to look for the whole word with each would go
// through its trigrams as often. A walk in parts asks again and again for what
// holds for the whole search.
func (c *compiler) pairs(t *searchql.Term) (out []string, err error) {
	if known, ok := c.touch[t]; ok {
		return known, nil
	}
	typed := []rune(t.Text)
	before, err := c.charsBefore(typed)
	if err != nil {
		return nil, err
	}
	for _, r := range before {
		out = append(out, string(r)+string(typed[:min(2, len(typed))]))
	}
	if !t.Prefix {
		after, err := c.charsAfter(typed)
		if err != nil {
			return nil, err
		}
		for _, r := range after {
			out = append(out, string(typed[max(0, len(typed)-2):])+string(r))
		}
	}
	if c.touch == nil {
		c.touch = map[*searchql.Term][]string{}
	}
	c.touch[t] = out
	return out, nil
}

// among is a query for the candidates that a term matches.
func among(t *searchql.Term, candidates fragment) source {
	return source{query: fragment{
		`SELECT m.id AS id FROM (` + candidates.sql + `) k CROSS JOIN messages m ON m.id = k.id WHERE ` + matchesCall,
		join(candidates.args, []any{encodeTerm(t, false)}),
	}}
}

// beginning is a query for the messages with a trigram that begins with one or
// two characters. Every text in the index ends with spaces, so none is missed.
func (c *compiler) beginning(s string) fragment {
	from := text.FoldFragment(s)
	return c.within.limit(fragment{`SELECT DISTINCT doc AS id FROM temp.` + gramVocab + ` WHERE term >= ? AND term < ?`, []any{from, from + maxRune}}, `doc`)
}

// touches reports whether a word needs no space beside r.
func touches(r rune) bool { return searchql.Unspaced(r) || searchql.Emoji(r) }

const maxRune = string(unicode.MaxRune)
