package browse

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/term"
)

func (m *model) showTree() tea.Cmd {
	if r, ok := m.current(); ok {
		return m.lineage(r.id)
	}
	return nil
}

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
	switch key {
	case "up", "k":
		m.node = max(0, m.node-1)
	case "down", "j":
		m.node = min(len(m.nodes)-1, m.node+1)
	case "enter":
		m.chosen = m.nodes[m.node].ID
		return tea.Quit
	default:
		m.dialog = none
	}
	return nil
}

func (m *model) helpKey(key string) tea.Cmd {
	switch key {
	case "up", "k":
		m.helpTop = max(0, m.helpTop-1)
	case "down", "j":
		m.helpTop++
	default:
		m.dialog = none
	}
	return nil
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
