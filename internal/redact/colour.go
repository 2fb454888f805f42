package redact

import "strings"

// introducers begin an escape sequence of a terminal: the character itself, and
// what languages and terminals write for it.
var introducers = []string{"\x1b", `\x1b`, `\x1B`, `\u001b`, `\u001B`, `\033`, `\e`, "^["}

// maxSequence bounds the parameters of an escape sequence.
const maxSequence = 32

// sequence is the length of the escape sequence that s begins with, 0 if there is
// none: a colour, a move of the cursor, a character set.
func sequence(s string) int {
	for _, in := range introducers {
		rest, ok := strings.CutPrefix(s, in)
		if !ok || len(rest) < 2 {
			continue
		}
		if n := afterIntroducer(rest); n > 0 {
			return len(in) + n
		}
	}
	return 0
}

func afterIntroducer(s string) int {
	switch s[0] {
	case '(', ')': // a character set
		if isWord(s[1]) {
			return 2
		}
	case '[':
		for i := 1; i < min(len(s), maxSequence); i++ {
			if isFinal(s[i]) {
				return i + 1
			}
			if s[i] < ' ' || s[i] > '?' {
				break
			}
		}
	}
	return 0
}

// isFinal tells what ends an escape sequence.
func isFinal(b byte) bool { return b >= '@' && b <= '~' }

// sequenceBefore is the length of the escape sequence that s ends with.
func sequenceBefore(s string) int {
	if s == "" || !isFinal(s[len(s)-1]) && !isWord(s[len(s)-1]) {
		return 0
	}
	for i := len(s) - 2; i >= 0 && i >= len(s)-maxSequence; i-- {
		if s[i] == '[' || s[i] == '(' || s[i] == ')' {
			for _, in := range introducers {
				if strings.HasSuffix(s[:i], in) && afterIntroducer(s[i:]) == len(s)-i {
					return len(in) + len(s) - i
				}
			}
			return 0
		}
		if s[i] < ' ' || s[i] > '?' {
			return 0
		}
	}
	return 0
}
