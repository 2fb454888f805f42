package redact

// automaton finds many words in a text in one pass, whatever the case of ASCII
// letters (Aho and Corasick's).
type automaton struct {
	class [256]uint8 // of bytes that no word tells apart
	width int        // how many classes
	next  []int32    // by state and class
	found [][]int32  // by state: the words that end here, the longest first
}

func newAutomaton(words []string) *automaton {
	a := &automaton{width: 1, next: []int32{0}, found: [][]int32{nil}}
	for _, w := range words {
		for i := range len(w) {
			if c := lower(w[i]); a.class[c] == 0 {
				a.class[c] = uint8(a.width) // #nosec G115 -- there are at most 256, one of them a capital
				a.width++
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		a.class[c] = a.class[c+'a'-'A']
	}
	a.next = make([]int32, a.width)
	for id, w := range words {
		a.add(w, int32(id)) // #nosec G115 -- the number of words
	}
	a.link()
	return a
}

func (a *automaton) add(word string, id int32) {
	state := int32(0)
	for i := range len(word) {
		at := int(state)*a.width + int(a.class[word[i]])
		if a.next[at] == 0 {
			a.next[at] = int32(len(a.found)) // #nosec G115 -- the length of all words
			a.next = append(a.next, make([]int32, a.width)...)
			a.found = append(a.found, nil)
		}
		state = a.next[at]
	}
	a.found[state] = append(a.found[state], id)
}

// link lets a state that can't go on go where its longest end would.
func (a *automaton) link() {
	fail := make([]int32, len(a.found))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range a.width {
			at := int(state)*a.width + c
			otherwise := a.next[int(fail[state])*a.width+c]
			child := a.next[at]
			if child == 0 {
				a.next[at] = otherwise
				continue
			}
			if state != 0 {
				fail[child] = otherwise
			}
			a.found[child] = append(a.found[child], a.found[fail[child]]...)
			queue = append(queue, child)
		}
	}
}

// each calls fn for each word in s, in the order of where they end, until it
// returns false.
func (a *automaton) each(s string, fn func(word int32, end int) bool) {
	state := int32(0)
	for i := range len(s) {
		state = a.next[int(state)*a.width+int(a.class[s[i]])]
		for _, w := range a.found[state] {
			if !fn(w, i+1) {
				return
			}
		}
	}
}

// in tells whether any word is in s.
func (a *automaton) in(s string) (found bool) {
	a.each(s, func(int32, int) bool { found = true; return false })
	return found
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
