package browse

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (m *model) showTree(r row) tea.Cmd { return m.lineage(r.id) }

func (m *model) takeTree(t tree) tea.Cmd {
	if t.err != nil {
		if !stale(t.err) {
			m.note = t.err.Error()
		}
		return nil
	}
	m.dialog, m.nodes, m.node, m.nodeTop = inTree, t.nodes, 0, 0
	for i, n := range t.nodes {
		if n.ID == t.of {
			m.node = i
		}
	}
	return nil
}

func (m *model) treeKey(key string) tea.Cmd {
	if key == "enter" {
		m.chosen = m.nodes[m.node].ID
		return tea.Quit
	}
	m.node = m.step(key, m.node, len(m.nodes)-1)
	return nil
}

func (m *model) helpKey(key string) tea.Cmd {
	m.helpTop = m.step(key, m.helpTop, len(m.help(m.width)))
	return nil
}

// step is where a key leads from a line of the whole screen. Other keys go back to
// the list.
func (m *model) step(key string, at, last int) int {
	page := max(1, m.bodyHeight()-1)
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown", "space":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = last
	default:
		m.dialog = none
	}
	return max(0, min(at, last))
}

// edges tell how a session came from the one above it.
var edges = map[sessiondb.Kind]string{
	sessiondb.Root: "●", sessiondb.Continuation: "↓", sessiondb.Branch: "├", sessiondb.Delegate: "·",
}

// maxIndent leaves room for titles however deep a tree is.
const maxIndent = 8

// treeLines are the lineage, the selected session marked.
func (m *model) treeLines(width int) (out []string) {
	indent := make([]int, 0, len(m.nodes)) // by depth, of those above
	for i, n := range m.nodes {
		in := 0
		if n.Depth > 0 && n.Depth <= len(indent) {
			in = indent[n.Depth-1]
			if n.Kind != sessiondb.Continuation {
				in = min(in+1, maxIndent)
			}
		}
		indent = append(indent[:min(n.Depth, len(indent))], in)
		title := deref(n.Title)
		if title == "" {
			title = n.ID
		}
		text := strings.Repeat("  ", in) + edges[n.Kind] + " " + term.Line(title)
		about := "  " + string(n.Kind) + ", " + plural(n.MessageCount, "message")
		if term.Width(text)+term.Width(about) <= width-2 {
			text += about
		}
		if i == m.node {
			out = append(out, m.paint(selected, pad("▸ "+text, width)))
		} else {
			out = append(out, pad("  "+text, width))
		}
	}
	return out
}
