package text

import (
	"strings"
)

// Recalled memory is put into messages between fences, for the model only:
//
//	<memory-context> ... </memory-context>
//
// or behind a note that says so.
var (
	memoryBlock = Regexp(`(?is)<\s*memory-context\s*>.*?</\s*memory-context\s*>`)
	memoryNote  = Regexp(`(?i)\[System note:\s*The following is recalled memory context,\s*NOT new user input\.\s*Treat as [^\]]*\]`)
	memoryTag   = Regexp(`(?i)</?\s*memory-context\s*>`)
)

// StripMemory removes recalled memory from what was said: whole blocks, then
// the system note, then tags without a partner. What is left is trimmed.
func StripMemory(s string) string {
	if mentionsMemory(s) {
		s = memoryBlock().ReplaceAllLiteralString(s, "")
		s = memoryNote().ReplaceAllLiteralString(s, "")
		s = memoryTag().ReplaceAllLiteralString(s, "")
	}
	return strings.TrimSpace(s)
}

// mentionsMemory spares most text the search for fences.
func mentionsMemory(s string) bool {
	const word = "memory"
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
