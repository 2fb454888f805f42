package highlight

import "strings"

// markup goes over HTML and XML, in which only what stands in tags is code.
func markup(s *scanner) {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.HasPrefix(rest, "<!--"):
			s.take(Comment, min(s.find("-->", s.at)+3, len(s.text)))
		case s.tag(rest):
			s.take(Name, s.word(s.at, s.at+2))
			s.attributes()
		default:
			s.at++
		}
	}
}

// tag reports whether one begins here.
func (s *scanner) tag(rest string) bool {
	return len(rest) > 1 && rest[0] == '<' && (strings.IndexByte("/!?", rest[1]) >= 0 || !digit(rest[1]) && s.inWord(rest[1], false))
}

// attributes goes over the rest of a tag.
func (s *scanner) attributes() {
	for s.at < len(s.text) && s.text[s.at] != '<' {
		if s.text[s.at] == '>' {
			s.take(Name, s.at+1)
			return
		}
		if end := s.quoted(); end > 0 {
			s.take(String, end)
		} else {
			s.at++
		}
	}
}

// changes goes over a diff, of which each line says what it is.
func changes(s *scanner) {
	for s.at < len(s.text) {
		end := min(s.find("\n", s.at)+1, len(s.text))
		switch line := s.text[s.at:end]; {
		case strings.HasPrefix(line, "+"):
			s.take(Added, end)
		case strings.HasPrefix(line, "-"):
			s.take(Removed, end)
		case strings.HasPrefix(line, "@@"):
			s.take(Keyword, end)
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			s.take(Comment, end)
		default:
			s.at = end
		}
	}
}
