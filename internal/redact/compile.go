package redact

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// rule tells what one kind of secret looks like.
type rule struct {
	id       string
	regex    string
	keywords []string // lower case; without one of them in a text there is no match
	group    int      // that is the secret: 0 is the first one that matched, or else the whole match
	entropy  float64  // in bits a character, that a secret exceeds
	rank     int      // the lowest names what several rules find
	allow    []allowlist
}

// allowlist tells what is no secret though it matches.
type allowlist struct {
	target  string // what regexes look at: "match", "line", or else the secret
	regexes []string
	words   []string // none of which a secret holds
}

// wholeMatch is the group of a rule whose groups are only parts of the secret.
const wholeMatch = -1

// lead begins most rules that look for a name and a value. It is not needed to
// find a match, and makes it slow.
const lead = `[\w.-]{0,50}?`

// compiled is a rule that is ready to be used.
type compiled struct {
	*rule
	regex *regexp.Regexp
	// A rule all of whose matches begin with a keyword is tried where one stands,
	// and there only.
	anchored  bool
	wordStart bool                  // where no word character precedes
	most      int                   // bytes that a match has, 0 if there is no bound
	anywhere  func() *regexp.Regexp // the rule as it is tried on a whole text
	allow     []compiledAllow
}

type compiledAllow struct {
	target  string
	regexes []*regexp.Regexp
	words   *automaton // or nil
}

func (r *rule) compile() *compiled {
	c := &compiled{rule: r}
	plain := strings.Replace(strings.Replace(r.regex, `(?i)`+lead, `(?i)`, 1), lead+`(?i:`+lead, `(?i:`, 1)
	source := plain
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic("redact: rule " + r.id + ": " + err.Error()) // a test compiles all rules
	}
	c.most = longest(tree)
	begins, _ := beginnings(tree)
	c.anchored = !slices.ContainsFunc(begins, func(s string) bool {
		return !slices.ContainsFunc(r.keywords, func(k string) bool { return strings.HasPrefix(s, k) })
	})
	c.anywhere = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(plain) })
	if c.anchored {
		c.wordStart = strings.HasPrefix(strings.TrimPrefix(source, `(?i)`), `\b`)
		source = `^(?:` + source + `)`
	}
	c.regex = regexp.MustCompile(source)
	c.allow = compileAllow(r.allow)
	return c
}

func compileAllow(lists []allowlist) []compiledAllow {
	var all []compiledAllow
	for _, l := range lists {
		c := compiledAllow{target: l.target}
		for _, s := range l.regexes {
			c.regexes = append(c.regexes, regexp.MustCompile(s))
		}
		if l.words != nil {
			c.words = newAutomaton(l.words)
		}
		all = append(all, c)
	}
	return all
}

// maxBeginnings bounds how many texts are looked at.
const maxBeginnings = 64

// beginnings lists what a match can begin with, in lower case, and tells whether
// that is all there is to a match.
func beginnings(re *syntax.Regexp) (all []string, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		return classBeginnings(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpConcat:
		all, exact = []string{""}, true
		for _, sub := range re.Sub {
			var more []string
			if more, exact = beginnings(sub); len(all)*len(more) > maxBeginnings {
				return all, false
			}
			all = product(all, more)
			if !exact {
				return all, false
			}
		}
		return all, true
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			more, ok := beginnings(sub)
			all, exact = append(all, more...), exact && ok
		}
		return all, exact
	case syntax.OpQuest:
		all, exact = beginnings(re.Sub[0])
		return append(all, ""), exact
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return []string{""}, true
	}
	return []string{""}, false
}

func classBeginnings(ranges []rune) (all []string, exact bool) {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 8 {
			return []string{""}, false
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			all = append(all, strings.ToLower(string(r)))
		}
	}
	return all, true
}

func product(heads, tails []string) []string {
	var all []string
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// longest is how many bytes a match can have, 0 if there is no bound.
func longest(re *syntax.Regexp) int {
	n, bounded := longestOf(re)
	if !bounded {
		return 0
	}
	return n
}

func longestOf(re *syntax.Regexp) (n int, bounded bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpRepeat:
		n, bounded = longestOf(re.Sub[0])
		return n * re.Max, bounded && re.Max >= 0
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			m, ok := longestOf(sub)
			if !ok {
				return 0, false
			}
			n = max(n, m)
		}
		return n, true
	}
	for _, sub := range re.Sub { // a concatenation, a capture, a question mark
		m, ok := longestOf(sub)
		if !ok {
			return 0, false
		}
		n += m
	}
	return n, true
}
