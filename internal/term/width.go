package term

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Width is the number of cells that s takes: Han, kana and Hangul two each, an
// emoji sequence two as a whole, marks that combine none.
func Width(s string) int { return displaywidth.String(s) }

// Cut shortens s to at most width cells, never within a character, and marks
// the cut with an ellipsis.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, width, "…")
}

// pad fills s with spaces up to width cells, on the left if right is set.
func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// Wrap breaks a line at spaces, or within a word that is longer than a line,
// so that no part takes more than width cells.
func Wrap(line string, width int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	var out []string
	start, used, space := 0, 0, -1 // of the line being filled
	g := displaywidth.StringGraphemes(line)
	for at := 0; g.Next(); at += len(g.Value()) {
		blank := g.Value() == " "
		if used+g.Width() > width && at > start {
			end, next := at, at
			switch {
			case blank:
				next++
			case space > start:
				end, next = space, space+1
			}
			out = append(out, line[start:end])
			start, space, used = next, -1, Width(line[min(next, at):at])
			if blank {
				continue
			}
		}
		if blank {
			space = at
		}
		used += g.Width()
	}
	return append(out, line[start:])
}
