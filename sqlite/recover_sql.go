package sqlite

import "strings"

// single says whether a text from a damaged store is one statement: what stands
// behind its end would be run too.
func single(sql string) bool {
	words := sqlWords(sql)
	end := len(words)
	for end > 0 && words[end-1] == ";" {
		end--
	}
	words = words[:end]
	if len(words) < 3 || words[0] != "create" {
		return false
	}
	if words[1] != "trigger" {
		return !contains(words, ";")
	}
	for i := range words[1:] { // a trigger ends where END follows a semicolon
		if words[i] == ";" && words[i+1] == "end" {
			return i+2 == len(words)
		}
	}
	return false
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// sqlWords splits SQL into words in small letters and semicolons. Comments are
// nothing; what stands in quotes is one word.
func sqlWords(sql string) (out []string) {
	for i := 0; i < len(sql); {
		rest := sql[i:]
		switch c := sql[i]; {
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n", 2)
		case strings.HasPrefix(rest, "/*"):
			i += until(rest, "*/", 2)
		case c == '\'' || c == '"' || c == '`':
			i += until(rest, string(c), 1) // two of them in a row are two words: no harm
			out = append(out, "''")
		case c == '[':
			i += until(rest, "]", 1)
			out = append(out, "''")
		case c == ';':
			i++
			out = append(out, ";")
		case isWord(c):
			n := 1
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			out = append(out, strings.ToLower(rest[:n]))
			i += n
		default:
			i++
		}
	}
	return out
}

// until is the length of a text up to and with an end that comes after a head.
func until(s, end string, head int) int {
	if i := strings.Index(s[head:], end); i >= 0 {
		return head + i + len(end)
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// quoted is a name as SQL takes any.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
