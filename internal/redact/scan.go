package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A mask says which rule found what stood there.
const (
	maskBegin = "[redacted:"
	maskEnd   = "]"
)

// masker masks the secrets in one text after another.
type masker struct {
	*matcher
	known    *known
	learning bool             // secrets become known
	counts   map[string]int64 // of masks by rule
	found    bool             // something, since this was last set to false
	only     bool             // what is known: the rules find nothing here
	spans    []span
}

const (
	maxEscapes = 3 // JSON in JSON in JSON, cut off so that it is none
	maxRounds  = 4 // a mask can bring to light what stood beside it
)

// mask masks secrets in a text. What stands before it, if anything, is looked
// at and not returned; a quote is taken to follow then.
func (m *masker) mask(before, text string) string {
	only := m.only
	for range maxRounds {
		spans := m.scan(before, text)
		if len(spans) == 0 {
			break
		}
		text, m.only = m.apply(text, spans), false
	}
	m.only = only
	return text
}

// scan returns where secrets stand in a text, in order and apart.
func (m *masker) scan(before, text string) []span {
	m.spans = m.spans[:0]
	whole := text
	if before != "" {
		quote := quoteFor(text)
		before = strings.TrimSuffix(before, `"`) + quote
		whole = before + text + quote
	}
	says, from := whole, offsets(nil)
	for range maxEscapes {
		m.look(says, from)
		if !strings.ContainsAny(says, escapes) {
			break
		}
		next, in := unescape(says)
		if len(next) == len(says) {
			break
		}
		for i := range in {
			in[i] = int32(from.at(int(in[i]))) // #nosec G115 -- an offset before, too
		}
		says, from = next, in
	}
	spans := m.spans[:0]
	for _, s := range m.spans {
		s.from, s.to = max(s.from-len(before), 0), min(s.to-len(before), len(text))
		for n := 1; n > 0 && s.from < s.to; { // colours behind the secret stay
			n = sequenceBefore(text[s.from:s.to])
			s.to -= n
		}
		if s.from < s.to {
			spans = append(spans, s)
		}
	}
	return apart(besideMasks(text, spans))
}

// quoteFor is a quotation mark that does not end a text too early.
func quoteFor(text string) string {
	for _, q := range []string{`"`, "'", "`"} {
		if !strings.Contains(text, q) {
			return q
		}
	}
	return `"`
}

// look adds what is found in a text, by where it comes from.
func (m *masker) look(says string, from offsets) {
	at := len(m.spans)
	if !m.only {
		m.spans = append(m.spans, m.find(says)...)
	}
	if m.learning {
		for _, s := range m.spans[at:] {
			m.known.add(says[s.from:s.to], s.rule)
		}
	} else {
		m.spans = m.known.find(says, m.spans)
	}
	if !m.only {
		m.lookInto(says)
	}
	for i := range m.spans[at:] {
		s := &m.spans[at+i]
		s.from, s.to = from.at(s.from), from.at(s.to)
	}
}

// lookInto adds base64 that holds a secret.
func (m *masker) lookInto(says string) {
	eachBase64(says, func(from, to int, inner string) {
		found := m.find(inner)
		if len(found) == 0 {
			return
		}
		best := slices.MinFunc(found, func(a, b span) int { return cmp.Compare(a.rule.rank, b.rule.rank) })
		m.spans = append(m.spans, span{from, to, best.rule})
		if m.learning {
			m.known.add(inner[best.from:best.to], best.rule)
		}
	})
}

// besideMasks lets no span end inside of a mask, and leaves out those that hold
// nothing but masks.
func besideMasks(text string, spans []span) []span {
	if len(spans) == 0 || !strings.Contains(text, maskBegin) {
		return spans
	}
	masks := masksIn(text)
	for i, s := range spans {
		spans[i] = s.around(masks)
	}
	return slices.DeleteFunc(spans, func(s span) bool {
		return !strings.ContainsFunc(withoutMasks(text, s, masks), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	})
}

// around is a span that holds each of the masks whole, or nothing of it.
func (s span) around(masks []span) span {
	for _, m := range masks {
		if s.from < m.to && m.from < s.to {
			s.from, s.to = min(s.from, m.from), max(s.to, m.to)
		}
	}
	return s
}

func withoutMasks(text string, s span, masks []span) string {
	var b strings.Builder
	at := s.from
	for _, m := range masks {
		if m.from >= s.from && m.to <= s.to {
			b.WriteString(text[at:m.from])
			at = m.to
		}
	}
	b.WriteString(text[at:s.to])
	return b.String()
}

var maskRegex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[redacted:([a-z0-9-]+)\]`) })

// masksIn returns where masks stand; their rules have names only.
func masksIn(text string) []span {
	var all []span
	for _, loc := range maskRegex().FindAllStringSubmatchIndex(text, -1) {
		all = append(all, span{loc[0], loc[1], &rule{id: text[loc[2]:loc[3]]}})
	}
	return all
}

// apart joins spans that overlap.
func apart(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.rule.rank, b.rule.rank), cmp.Compare(a.rule.id, b.rule.id))
	})
	var all []span
	for _, s := range spans {
		if n := len(all); n > 0 && s.from < all[n-1].to {
			last := &all[n-1]
			last.to = max(last.to, s.to)
			if s.rule.rank < last.rule.rank {
				last.rule = s.rule
			}
			continue
		}
		all = append(all, s)
	}
	return all
}

// apply puts masks where spans are. A mask that a larger one swallows was none.
func (m *masker) apply(text string, spans []span) string {
	m.found = true
	var b strings.Builder
	at := 0
	for _, s := range spans {
		for _, old := range masksIn(text[s.from:s.to]) {
			m.count(old.rule.id, -1)
		}
		b.WriteString(text[at:s.from])
		b.WriteString(maskBegin + s.rule.id + maskEnd)
		m.count(s.rule.id, 1)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// count counts what this masker masked; of a mask that was there before, it
// knows nothing.
func (m *masker) count(id string, n int64) {
	if n += m.counts[id]; n > 0 {
		m.counts[id] = n
	} else {
		delete(m.counts, id)
	}
}
