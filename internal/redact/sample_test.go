package redact

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// sampler makes texts that a regular expression matches, so that no key, true or
// false, stands in the source.
type sampler struct{ r *rand.Rand }

func (s sampler) of(regex string) string {
	tree, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	s.write(&b, tree)
	return b.String()
}

func (s sampler) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(s.among(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcdef0123 "[s.r.IntN(11)])
	case syntax.OpAlternate:
		s.write(b, re.Sub[s.r.IntN(len(re.Sub))])
	case syntax.OpStar:
		s.repeat(b, re.Sub[0], 0, 3)
	case syntax.OpPlus:
		s.repeat(b, re.Sub[0], 1, 8)
	case syntax.OpQuest:
		s.repeat(b, re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 || most > re.Min+8 {
			most = re.Min + 8
		}
		s.repeat(b, re.Sub[0], re.Min, most)
	default:
		for _, sub := range re.Sub {
			s.write(b, sub)
		}
	}
}

func (s sampler) repeat(b *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + s.r.IntN(most-least+1) {
		s.write(b, re)
	}
}

// among takes one of the characters of a class, of ASCII if there are any.
func (s sampler) among(ranges []rune) rune {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			all = append(all, r)
		}
	}
	if all == nil {
		return ranges[0]
	}
	return all[s.r.IntN(len(all))]
}
