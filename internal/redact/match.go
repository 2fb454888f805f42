package redact

import (
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// ruleSet is all rules. Each is compiled when one of its keywords is first seen.
type ruleSet struct {
	rules   []lazyRule
	allow   []compiledAllow // for all rules
	words   *automaton
	lengths []int   // of the words
	rulesOf [][]int // by word
}

type lazyRule struct {
	rule *rule
	once sync.Once
	c    *compiled
}

// allRules is made when something is first redacted, once a process.
var allRules = sync.OnceValue(func() *ruleSet { return newRuleSet(gitleaksRules, ownRules, placeRules) })

func newRuleSet(lists ...[]rule) *ruleSet {
	s := &ruleSet{allow: compileAllow([]allowlist{gitleaksAllow})}
	var words []string
	number := map[string]int{}
	for _, list := range lists {
		for i := range list {
			r := &list[i]
			for _, k := range r.keywords {
				n, ok := number[k]
				if !ok {
					n = len(words)
					number[k] = n
					words, s.rulesOf, s.lengths = append(words, k), append(s.rulesOf, nil), append(s.lengths, len(k))
				}
				s.rulesOf[n] = append(s.rulesOf[n], len(s.rules))
			}
			s.rules = append(s.rules, lazyRule{rule: r})
		}
	}
	s.words = newAutomaton(words)
	return s
}

func (s *ruleSet) rule(n int) *compiled {
	l := &s.rules[n]
	l.once.Do(func() { l.c = l.rule.compile() })
	return l.c
}

// span is where a secret stands.
type span struct {
	from, to int
	rule     *rule
}

// matcher looks for secrets in one text after another.
type matcher struct {
	set   *ruleSet
	next  []int // by rule: where its last match in this text ended, if it is in used
	used  []int
	text  string
	all   []span
	spent int // how much text was handed to rules without a bound
}

// A rule without a bound can go on to the end of a text at each of its keywords.
// Where that adds up to patience times the text, it looks at all of it once.
const patience = 4

// maxLine bounds what is looked at of the line around a match, to both sides.
const maxLine = 500

func newMatcher(set *ruleSet) *matcher { return &matcher{set: set, next: make([]int, len(set.rules))} }

// find returns where secrets stand, in no order. They may overlap. What it
// returns is overwritten by the next call.
func (m *matcher) find(text string) []span {
	m.text, m.all, m.spent = text, m.all[:0], 0
	m.set.words.each(text, func(word int32, end int) bool {
		for _, n := range m.set.rulesOf[word] {
			m.keyword(n, end-m.set.lengths[word])
		}
		return true
	})
	for _, n := range m.used {
		m.next[n] = 0
	}
	m.used = m.used[:0]
	return m.all
}

// keyword is called where a keyword of a rule stands.
func (m *matcher) keyword(n, at int) {
	if at < m.next[n] {
		return
	}
	c := m.set.rule(n)
	end := len(m.text)
	switch {
	case !c.anchored:
		m.tryAll(c, c.regex)
	case c.most == 0 && m.spent > patience*len(m.text):
		m.tryAll(c, c.anywhere())
	default:
		end = m.tryAt(c, at)
	}
	if end > 0 {
		m.next[n] = end
		m.used = append(m.used, n)
	}
}

// tryAt looks for a match that begins at a keyword, and returns where it ends,
// 0 if it is none.
func (m *matcher) tryAt(c *compiled, at int) int {
	if c.wordStart && !beginsWord(m.text, at) {
		return 0
	}
	to := len(m.text)
	if c.most > 0 {
		to = min(to, at+c.most+utf8.UTFMax)
	} else {
		m.spent += to - at
	}
	loc := c.regex.FindStringSubmatchIndex(m.text[at:to])
	if loc == nil {
		return 0
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += at
		}
	}
	if !m.accept(c, loc) {
		return 0
	}
	return loc[1]
}

func (m *matcher) tryAll(c *compiled, regex *regexp.Regexp) {
	for _, loc := range regex.FindAllStringSubmatchIndex(m.text, -1) {
		m.accept(c, loc)
	}
}

// accept keeps a match unless it is no secret after all.
func (m *matcher) accept(c *compiled, loc []int) bool {
	from, to := c.secret(loc)
	for from < to && isSpace(m.text[from]) {
		from++
	}
	for from < to && isSpace(m.text[to-1]) {
		to--
	}
	secret := m.text[from:to]
	if secret == "" || c.entropy != 0 && entropy(secret) <= c.entropy {
		return false
	}
	for _, lists := range [][]compiledAllow{m.set.allow, c.allow} {
		for i := range lists {
			if m.allowed(&lists[i], loc, secret) {
				return false
			}
		}
	}
	// Where a rule knows the length of a secret, a longer one goes on.
	for to < len(m.text) && (isWord(m.text[to]) || m.text[to] == '-') {
		to++
	}
	m.all = append(m.all, span{from, to, c.rule})
	return true
}

// secret is the part of a match that is to be masked.
func (c *compiled) secret(loc []int) (from, to int) {
	if c.group > 0 {
		return loc[2*c.group], loc[2*c.group+1]
	}
	if c.group != wholeMatch {
		for i := 2; i < len(loc); i += 2 {
			if loc[i] < loc[i+1] {
				return loc[i], loc[i+1]
			}
		}
	}
	return loc[0], loc[1]
}

func (m *matcher) allowed(a *compiledAllow, loc []int, secret string) bool {
	target := secret
	switch a.target {
	case "match":
		target = m.text[m.leadOf(loc[0]):loc[1]]
	case "line":
		before, after := m.text[max(0, loc[0]-maxLine):loc[0]], m.text[loc[1]:min(len(m.text), loc[1]+maxLine)]
		before = before[strings.LastIndexByte(before, '\n')+1:]
		after, _, _ = strings.Cut(after, "\n")
		target = m.text[loc[0]-len(before) : loc[1]+len(after)]
	}
	return matchesAny(a.regexes, target) || a.words != nil && a.words.in(secret)
}

// leadOf is where the name begins in which a keyword at i stands: what lead
// would have matched.
func (m *matcher) leadOf(i int) int {
	for n := 0; i > 0 && n < 50 && (isWord(m.text[i-1]) || m.text[i-1] == '.' || m.text[i-1] == '-'); n++ {
		i--
	}
	return i
}

func matchesAny(regexes []*regexp.Regexp, s string) bool {
	for _, r := range regexes {
		if r.MatchString(s) {
			return true
		}
	}
	return false
}

// entropy is how many bits a character tells.
func entropy(s string) (bits float64) {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// beginsWord tells whether a token can begin at i. Unlike for \b, an underscore and
// the end of a colour are no part of a word.
func beginsWord(text string, i int) bool {
	return i == 0 || !isWord(text[i-1]) || text[i-1] == '_' || sequenceBefore(text[:i]) > 0
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
