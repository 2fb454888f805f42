package redact

import "strings"

// known are the secrets of a session. One that was recognized by what stands
// around it is masked where it stands alone, too.
type known struct {
	rules map[string]*rule
	heads *automaton
	byID  [][]string // by head
}

const (
	maxKnown = 4096 // of one session; those beyond are masked where they are recognized
	headSize = 48
)

// worthKnowing tells whether a text is so unlike a word or a number that it is
// the secret wherever it stands.
func worthKnowing(s string) bool {
	letters, others, digits := 0, 0, 0
	for i := range len(s) {
		switch b := s[i]; {
		case b >= '0' && b <= '9':
			digits++
		case lower(b) >= 'a' && lower(b) <= 'z':
			letters++
		default:
			others++
		}
	}
	if letters > 0 && digits+others > 0 {
		return len(s) >= 6
	}
	return len(s) >= 12
}

func (k *known) add(secret string, r *rule) {
	secret = strings.TrimSpace(secret)
	if len(k.rules) >= maxKnown || !worthKnowing(secret) || strings.Contains(secret, maskBegin) {
		return
	}
	if k.rules == nil {
		k.rules = map[string]*rule{}
	}
	if old := k.rules[secret]; old == nil || r.rank < old.rank {
		k.rules[secret] = r
	}
}

// ready is called when all are added.
func (k *known) ready() {
	var heads []string
	number := map[string]int{}
	for s := range k.rules {
		head := s[:min(len(s), headSize)]
		n, ok := number[strings.ToLower(head)]
		if !ok {
			n = len(heads)
			number[strings.ToLower(head)] = n
			heads, k.byID = append(heads, head), append(k.byID, nil)
		}
		k.byID[n] = append(k.byID[n], s)
	}
	k.heads = newAutomaton(heads)
}

// find adds where secrets stand in a text.
func (k *known) find(text string, all []span) []span {
	if len(k.rules) == 0 {
		return all
	}
	k.heads.each(text, func(head int32, end int) bool {
		for _, s := range k.byID[head] {
			from := end - min(len(s), headSize)
			if !strings.HasPrefix(text[from:], s) {
				continue
			}
			to := from + len(s)
			if len(s) < 16 && (from > 0 && isWord(text[from-1]) || to < len(text) && isWord(text[to])) {
				continue // a part of something else
			}
			all = append(all, span{from, to, k.rules[s]})
		}
		return true
	})
	return all
}
