package browse

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb/internal/term"
)

// binding is a key and what it does. In the search field, where letters are
// typed, another one does it.
type binding struct {
	keys  string // separated by spaces
	field string // the same in the search field
	does  string
	hint  string // a word for the line at the bottom; empty for none
	do    func(*model) tea.Cmd
}

// bindings are all keys: the help, the line at the bottom and docs/browse.md
// are made of them.
func bindings() []binding {
	return []binding{
		{"enter", "enter", "prints the id of the session and leaves, or runs --exec", "choose", onRow((*model).choose)},
		{"?", "f1", "shows this help", "help", func(m *model) tea.Cmd { m.dialog = helping; return nil }},
		{"q esc", "esc", "leaves; in the search, clears it first", "quit", (*model).leave},
		{"up k", "up", "goes to the session above, or up in the transcript", "", func(m *model) tea.Cmd { return m.move(-1) }},
		{"down j", "down", "goes to the session below, or down in the transcript", "", func(m *model) tea.Cmd { return m.move(1) }},
		{"pgup", "pgup", "goes a page up", "", func(m *model) tea.Cmd { return m.move(-m.page()) }},
		{"pgdown space", "pgdown", "goes a page down", "", func(m *model) tea.Cmd { return m.move(m.page()) }},
		{"home g", "home", "goes to the first", "", func(m *model) tea.Cmd { return m.move(-1 << 30) }},
		{"end G", "end", "goes to the last that is loaded", "", func(m *model) tea.Cmd { return m.move(1 << 30) }},
		{"shift+up K", "shift+up", "scrolls the transcript up", "", func(m *model) tea.Cmd { return m.scroll(-3) }},
		{"shift+down J", "shift+down", "scrolls the transcript down", "", func(m *model) tea.Cmd { return m.scroll(3) }},
		{"n", "ctrl+n", "goes to the next match in the transcript, also a folded one", matchHint, func(m *model) tea.Cmd { return m.goToMatch(1) }},
		{"N", "ctrl+p", "goes to the match before", "", func(m *model) tea.Cmd { return m.goToMatch(-1) }},
		{"tab", "tab", "goes from the search to the list, to the transcript, and back", "pane", (*model).nextFocus},
		{"/", "", "goes to the search", "search", func(m *model) tea.Cmd { m.focus = inField; return nil }},
		{"f", "ctrl+f", "unfolds tool calls, results and reasoning, or folds them", "fold", (*model).fold},
		{"t", "ctrl+t", "shows the lineage as a tree", "tree", onRow((*model).showTree)},
		{"y", "ctrl+y", "copies the id to the clipboard", "copy", onRow((*model).copyID)},
		{"r", "ctrl+r", "renames the session", "rename", onRow((*model).askTitle)},
		{"l", "ctrl+l", "sets the tags of the conversation", "tag", onRow((*model).askTags)},
		{"d", "ctrl+d", "deletes the conversation, after asking", "delete", onRow((*model).askDelete)},
		{"e", "ctrl+e", "exports the session to a file: .jsonl, .md or .html", "export", onRow((*model).askExport)},
	}
}

// onRow is what a key does with the selected row, where there is one.
func onRow(do func(*model, row) tea.Cmd) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		return m.whenAnswered(func() tea.Cmd {
			if r, ok := m.current(); ok {
				return do(m, r)
			}
			return nil
		})
	}
}

// matchHint is of a key that only a search makes of use.
const matchHint = "next match"

func (m *model) pressed(key string) (binding, bool) {
	for _, b := range bindings() {
		keys := b.field
		if m.focus != inField {
			keys += " " + b.keys
		}
		if slices.Contains(strings.Fields(keys), key) {
			return b, true
		}
	}
	return binding{}, false
}

// KeyTable is the table of keys in Markdown.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| key | while typing | does |\n|---|---|---|\n")
	for _, k := range bindings() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", quoted(k.keys), quoted(k.field), k.does)
	}
	return b.String()
}

func quoted(keys string) string {
	var out []string
	for _, k := range strings.Fields(keys) {
		out = append(out, "`"+k+"`")
	}
	return strings.Join(out, ", ")
}

// help is the table of keys as lines of the screen.
func (m *model) help(width int) (lines []string) {
	const keyWidth = 15
	for _, b := range bindings() {
		keys := b.keys
		if b.field != "" && !slices.Contains(strings.Fields(b.keys), b.field) {
			keys += " " + b.field
		}
		for i, line := range term.Wrap(b.does, max(10, width-keyWidth-1)) {
			if i > 0 {
				keys = ""
			}
			lines = append(lines, m.paint(bold, pad(keys, keyWidth))+" "+line)
		}
	}
	return lines
}

// dialogHints are the keys where the others do something else.
var dialogHints = map[dialog]string{
	helping: "↑ ↓ scroll, other keys go back",
	inTree:  "enter chooses, ↑ ↓ move, others go back",
}

// hints are the keys at the bottom, as many as there is room for.
func (m *model) hints(width int) string {
	if m.dialog != none {
		return term.Cut(dialogHints[m.dialog], width)
	}
	var b strings.Builder
	used := 0
	for _, k := range bindings() {
		keys := k.keys
		if m.focus == inField {
			keys = k.field
		}
		if k.hint == "" || keys == "" || k.hint == matchHint && m.asked() == "" {
			continue
		}
		key := strings.Fields(keys)[0]
		n := len(key) + 1 + len(k.hint)
		if used+n+2 > width {
			continue
		}
		b.WriteString(m.paint(bold, key) + " " + k.hint + "  ")
		used += n + 2
	}
	return b.String()
}
