package browse

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/sessiondb-go/sessiondb"
)

// hold gives keys to the program while a search is under way, and returns what was
// begun by them.
func (p *person) hold(keys ...string) (begun []tea.Cmd) {
	for _, key := range keys {
		if k, ok := special[key]; ok {
			begun = append(begun, p.update(tea.KeyPressMsg(k)))
			continue
		}
		for _, r := range key {
			begun = append(begun, p.update(tea.KeyPressMsg{Code: r, Text: string(r)}))
		}
	}
	return begun
}

// Keys that are pressed before the answer act on its rows, as they would after it.
func TestKeysWaitForTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		keys   []string
		does   func(*person) string // what was done, and with which row
		want   string
		before string // what is typed first
	}{
		"enter":         {keys: []string{"요약", "enter"}, does: func(p *person) string { return p.chosen }, want: "korean"},
		"third row":     {keys: []string{"docker", "down", "down", "enter"}, does: func(p *person) string { return p.chosen }, want: "arabic"},
		"of the list":   {before: "요약", keys: []string{"ctrl+u", "enter"}, does: func(p *person) string { return p.chosen }, want: "evil"},
		"only a space":  {before: "요약", keys: []string{"ctrl+u", " ", "enter"}, does: func(p *person) string { return p.chosen }, want: "evil"},
		"nothing found": {keys: []string{"zebra", "enter"}, does: func(p *person) string { return p.chosen }, want: ""},
		"esc cancels":   {keys: []string{"요약", "enter", "esc"}, does: func(p *person) string { return p.chosen + p.query }, want: "요약"},
		"typed on":      {keys: []string{"docker", "enter", " 이미지"}, does: func(p *person) string { return p.chosen }, want: ""},
		"delete": {keys: []string{"요약", "tab", "d", "y"}, want: "korean",
			does: func(p *person) string { return map[dialog]string{deleting: p.subject}[p.dialog] }},
		"rename": {keys: []string{"요약", "ctrl+r"}, want: "korean",
			does: func(p *person) string { return map[dialog]string{renaming: p.subject}[p.dialog] }},
		"export": {keys: []string{"요약", "ctrl+e"}, want: "korean",
			does: func(p *person) string { return map[dialog]string{exporting: p.subject}[p.dialog] }},
		"copy": {keys: []string{"요약", "ctrl+y"}, does: func(p *person) string { return p.note }, want: "copied korean"},
	} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, story(t), 80, 24)
			p.press(c.before)
			begun := p.hold(c.keys...)
			if p.chosen != "" || p.dialog != none || strings.HasPrefix(p.note, "copied") {
				t.Fatalf("it did not wait: chose %q, dialog %v, %q", p.chosen, p.dialog, p.note)
			}
			for _, cmd := range begun {
				p.do(cmd)
			}
			if got := c.does(p); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A row of what was typed before can't be selected with the mouse either, and enter
// after a search that failed searches again.
func TestOldRows(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	begun := p.hold("요약")
	p.do(p.update(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft}))
	p.do(p.update(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown}))
	if p.at != 0 {
		t.Errorf("row %d of the old list is selected", p.at)
	}
	p.hold("enter")
	if !strings.Contains(p.screenshot(), "esc cancels it") {
		t.Errorf("nothing says that enter waits:\n%s", p.screenshot())
	}
	p.do(p.update(found{gen: p.gen, err: sessiondb.ErrCorrupt, contents: "요약"}))
	for _, cmd := range begun {
		p.do(cmd)
	}
	if p.chosen != "" || !strings.Contains(p.screenshot(), sessiondb.ErrCorrupt.Error()) {
		t.Errorf("chose %q:\n%s", p.chosen, p.screenshot())
	}
	if p.press("enter"); p.chosen != "korean" {
		t.Errorf("chose %q", p.chosen)
	}
}

// A search under way does not take away what is said of a change.
func TestResultStays(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	p.o.Export = func(context.Context, string, string) error { return nil }
	p.press("요약", "tab")
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"e", "enter"}, "exported to korean.jsonl"},
		{[]string{"r", "!", "enter"}, "renamed korean"},
		{[]string{"d", "y"}, "deleted 1 session"},
	} {
		if p.press(c.keys...); !strings.Contains(p.screenshot(), c.want) {
			t.Errorf("no %q:\n%s", c.want, p.screenshot())
		}
		if p.press("tab", "tab", "tab"); strings.Contains(p.screenshot(), c.want) {
			t.Errorf("still %q", c.want)
		}
	}
}
