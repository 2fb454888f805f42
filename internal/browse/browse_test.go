package browse

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

var update = flag.Bool("update", false, "write the screens anew")

var start = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// person drives the screen as the framework would, one thing after the other.
type person struct {
	*model
	t *testing.T
}

// sit opens a store on a terminal of a size.
func sit(t *testing.T, db *sessiondb.DB, width, height int) *person {
	t.Helper()
	m := newModel(t.Context(), Options{
		DB: db, Now: func() time.Time { return start.Add(3 * time.Hour) },
		Write: func(_ context.Context, fn func(*sessiondb.DB) error) error { return fn(db) },
	})
	t.Cleanup(m.stop)
	p := &person{m, t}
	p.do(m.update(tea.WindowSizeMsg{Width: width, Height: height}))
	p.do(m.searching())
	return p
}

func (p *person) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			p.do(c)
		}
		return
	}
	p.do(p.update(msg))
}

var special = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "esc": {Code: tea.KeyEscape}, "down": {Code: tea.KeyDown},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+f": {Code: 'f', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
	"ctrl+r": {Code: 'r', Mod: tea.ModCtrl}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+y": {Code: 'y', Mod: tea.ModCtrl},
}

// press presses keys: the names of special ones, or what is typed.
func (p *person) press(keys ...string) {
	for _, key := range keys {
		if k, ok := special[key]; ok {
			p.do(p.update(tea.KeyPressMsg(k)))
			continue
		}
		for _, r := range key {
			p.do(p.update(tea.KeyPressMsg{Code: r, Text: string(r)}))
		}
	}
}

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// screenshot is the screen without its styles. No line is wider than the
// terminal, and nothing is left that a terminal obeys.
func (p *person) screenshot() string {
	p.t.Helper()
	var out []string
	for _, l := range p.screen() {
		l = sequence.ReplaceAllString(l, "")
		if w := term.Width(l); w > p.width {
			p.t.Errorf("%d cells on a terminal of %d: %q", w, p.width, l)
		}
		if term.Line(l) != l {
			p.t.Errorf("a terminal may obey %q", l)
		}
		out = append(out, strings.TrimRight(l, " "))
	}
	if len(out) != p.height {
		p.t.Errorf("%d lines on a terminal of %d", len(out), p.height)
	}
	return strings.Join(out, "\n") + "\n"
}

// shows compares the screen with the one that is kept.
func (p *person) shows(name string) {
	p.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	got := p.screenshot()
	if *update {
		noError(p.t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	noError(p.t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		p.t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// story makes a store with a lineage, wide characters, Arabic, code, a tool
// call, and text that tries to command the terminal.
func story(t *testing.T) *sessiondb.DB {
	t.Helper()
	now := start
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{Now: func() time.Time { return now }})
	noError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	session := func(id, source, parent, title string, texts ...string) {
		now = now.Add(10 * time.Minute)
		_, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: id, Source: source, ParentID: parent})
		noError(t, err)
		noError(t, db.SetTitle(t.Context(), id, title))
		for i, text := range texts {
			_, err := db.AppendMessage(t.Context(), id, sessiondb.Message{Role: []string{"user", "assistant"}[i%2], Content: sessiondb.Text(text)})
			noError(t, err)
		}
	}
	session("first", "cli", "", "move to docker", "Put the gateway into a docker image.", "Two stages:\n```\nFROM scratch\n```")
	name := "terminal"
	calls := json.RawMessage(`[{"function":{"name":"terminal","arguments":"{\"command\":\"docker build .\"}"}}]`)
	_, err = db.AppendMessages(t.Context(), "first", []sessiondb.Message{
		{Role: "assistant", ToolCalls: calls},
		{Role: "tool", ToolName: &name, Content: sessiondb.Text("step 1\nstep 2\ndone")},
	})
	noError(t, err)
	noError(t, db.EndSession(t.Context(), "first", "compression"))
	session("second", "cli", "first", "move to docker #2", "Now the health check.", "A flag --health.")
	session("helper", "subagent", "second", "", "How do others check health?")
	session("korean", "telegram", "", "회의록 정리", "어제 회의록을 세 줄로 요약해 줘.", "docker 이미지 배포는 목요일 오전으로 잡아 두었습니다.")
	session("arabic", "telegram", "", "خطة النشر", "متى ننشر الصورة؟ docker", "صباح الخميس")
	session("evil", "discord", "", "hostile", "clear \x1b[2J title \x1b]0;x\a c1 \u009b31m bidi \u202etxt\u2066 \tdocker\r\n", "ok")
	return db
}

func TestScreens(t *testing.T) {
	db := story(t)
	for name, c := range map[string]struct {
		width int
		keys  []string
	}{
		"list-120":     {120, nil},
		"list-80":      {80, nil},
		"list-40":      {40, nil},
		"text-40":      {40, []string{"tab", "tab"}},
		"search-120":   {120, []string{"docker"}},
		"search-40":    {40, []string{"docker"}},
		"korean-80":    {80, []string{"회의록"}},
		"arabic-80":    {80, []string{"النشر"}},
		"nothing-80":   {80, []string{"zebra"}},
		"tree-80":      {80, []string{"health", "tab", "t"}},
		"help-80":      {80, []string{"?"}},
		"help-40":      {40, []string{"?"}},
		"rename-80":    {80, []string{"tab", "r", "!"}},
		"delete-80":    {80, []string{"tab", "d"}},
		"folded-120":   {120, []string{"gateway"}},
		"unfolded-120": {120, []string{"gateway", "ctrl+f"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, db, c.width, 24)
			p.press(c.keys...)
			p.shows(name)
		})
	}
}

func TestMatchesAreMarked(t *testing.T) {
	p := sit(t, story(t), 120, 24)
	p.press("gateway")
	for color, want := range map[bool][]string{true: {"\x1b[1;30;43mgateway", "\x1b[1;30;46mgateway"}, false: {"\x1b[7mgateway", "\x1b[1;4;7mgateway"}} {
		p.o.Color = color
		for _, mark := range want { // in the list, and in the transcript
			if n := strings.Count(strings.Join(p.screen(), "\n"), mark); n != 1 {
				t.Errorf("colour %v: %d marks %q", color, n, mark)
			}
		}
	}
}

func TestNoColorWithoutColor(t *testing.T) {
	p := sit(t, story(t), 120, 24)
	p.press("docker")
	for _, s := range sequence.FindAllString(strings.Join(p.screen(), "\n"), -1) {
		if regexp.MustCompile(`[34][0-7]`).MatchString(s) {
			t.Errorf("colour %q", s)
		}
	}
}

func TestChoose(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	p.press("요약", "enter")
	if p.chosen != "korean" {
		t.Errorf("chose %q", p.chosen)
	}
	p = sit(t, story(t), 80, 24)
	p.press("esc")
	if p.chosen != "" {
		t.Errorf("chose %q by leaving", p.chosen)
	}
}

func TestRenameAndDelete(t *testing.T) {
	db := story(t)
	p := sit(t, db, 80, 24)
	p.press("tab", "r", "ctrl+u", "renamed", "enter")
	s, err := db.Session(t.Context(), "evil")
	noError(t, err)
	if deref(s.Title) != "renamed" || p.rows[0].title != "renamed" {
		t.Errorf("title %q, shown %q", deref(s.Title), p.rows[0].title)
	}
	p.press("r", "ctrl+u", "move to docker", "enter")
	if !strings.Contains(p.screenshot(), "taken") {
		t.Errorf("a taken title is not told:\n%s", p.screenshot())
	}
	p.press("d", "n")
	if _, err := db.Session(t.Context(), "evil"); err != nil {
		t.Errorf("deleted without consent: %v", err)
	}
	p.press("d", "y")
	if _, err := db.Session(t.Context(), "evil"); err == nil || strings.Contains(p.screenshot(), "renamed") {
		t.Errorf("not deleted: %v", err)
	}
}

func TestMouse(t *testing.T) {
	p := sit(t, story(t), 120, 24)
	click := func(x, y int) {
		t.Helper()
		p.do(p.update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}))
		p.screenshot()
	}
	wheel := func(x, y int, button tea.MouseButton) { p.do(p.update(tea.MouseWheelMsg{X: x, Y: y, Button: button})) }
	selects := func(id string) {
		t.Helper()
		if r, _ := p.current(); r.id != id {
			t.Errorf("selected %q, want %q", r.id, id)
		}
	}
	click(5, 4) // the lower line of the second
	selects("arabic")
	if p.focus != inList || p.text.session != "arabic" {
		t.Errorf("focus %v, transcript of %q", p.focus, p.text.session)
	}
	wheel(5, 5, tea.MouseWheelDown)
	selects("korean")
	wheel(5, 5, tea.MouseWheelUp)
	selects("arabic")
	click(80, 5)
	if p.focus != inText {
		t.Errorf("focus %v, want the transcript", p.focus)
	}
	click(5, 22) // below the list
	selects("arabic")
	click(20, 0)
	p.press("flag")
	selects("second")
	p.press("tab", "t")
	click(10, 3)
	if id := p.nodes[p.node].ID; id != "helper" {
		t.Errorf("in the tree %q", id)
	}
	wheel(10, 3, tea.MouseWheelUp)
	p.press("enter")
	if p.chosen != "second" {
		t.Errorf("chose %q", p.chosen)
	}
}

// Whatever an id has in it, its export is a new file in this folder.
func TestExport(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	var got []string
	p.o.Export = func(_ context.Context, id, path string) error {
		got = append(got, id+" "+path)
		return nil
	}
	p.press("tab", "e", "enter", "e", "ctrl+u", "enter")
	if want := []string{"evil evil.jsonl"}; !cmp.Equal(got, want) {
		t.Errorf("exported %q, want %q", got, want)
	}
	if name := fileName("../a b/\x1b[31m\u202e"); name != "___a_b___31m_.jsonl" {
		t.Errorf("file name %q", name)
	}
}

func TestEmptyStore(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	noError(t, err)
	defer func() { _ = db.Close() }()
	p := sit(t, db, 80, 24)
	p.press("tab", "t", "r", "d", "y", "e", "f", "enter", "down")
	if p.chosen != "" {
		t.Errorf("chose %q", p.chosen)
	}
	p.shows("empty-80")
}

// What others store appears, and the selection stays where it was.
func TestFollows(t *testing.T) {
	db := story(t)
	p := sit(t, db, 80, 24)
	p.press("tab", "down")
	before, _ := p.current()
	_, err := db.AppendMessage(t.Context(), "korean", sessiondb.Message{Role: "user", Content: sessiondb.Text("고마워"), Timestamp: start.Add(2 * time.Hour)})
	noError(t, err)
	p.do(p.list(sessiondb.ListFilter{}, 0))
	if after, _ := p.current(); after.id != before.id || p.rows[0].id != "korean" {
		t.Errorf("selected %s, was %s; on top %s", after.id, before.id, p.rows[0].id)
	}
}

// A store that was taken away is told of; what was read of it stays.
func TestStoreGone(t *testing.T) {
	path := fixture.Copy(t, "hermes-v11.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	noError(t, err)
	defer func() { _ = db.Close() }()
	p := sit(t, db, 80, 24)
	rows := len(p.rows)
	noError(t, os.Remove(path))
	for begun := time.Now(); p.note == "" && time.Since(begun) < time.Minute; {
		p.do(p.list(sessiondb.ListFilter{}, 0))
	}
	if !strings.Contains(p.note, sessiondb.ErrReplaced.Error()) || len(p.rows) != rows {
		t.Errorf("%d rows of %d, and %q", len(p.rows), rows, p.note)
	}
}

// A server that is away is told of, whatever is pressed, and what it was asked for is
// shown when it answers again.
func TestServerAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := fmt.Errorf("search: %w: refused", sessiondb.ErrConnection)
		p := sit(t, story(t), 80, 24)
		told := func(what string, want bool) {
			t.Helper()
			if screen := p.screenshot(); strings.Contains(screen, "\n"+sessiondb.ErrConnection.Error()+": refused; trying again") != want || strings.Contains(screen, "searching") || strings.Contains(screen, "nothing found") {
				t.Errorf("%s:\n%s", what, screen)
			}
		}
		p.press("요약")
		p.rows = nil
		waits := p.update(found{gen: p.gen, err: away, contents: "요약"})
		if again := p.update(changed{away}); again == nil {
			t.Error("it no longer follows the store")
		}
		told("a search", true)
		p.press("tab")
		told("a key", true)
		p.do(waits)
		told("back", false)
		if r, _ := p.current(); r.id != "korean" {
			t.Errorf("shows %q", r.id)
		}
		waits = p.update(passage{gen: p.textGen, err: away})
		told("a transcript", true)
		p.do(waits)
		if told("back", false); len(p.text.ms) == 0 || p.text.err != nil {
			t.Errorf("no transcript: %v", p.text.err)
		}
		p.press("tab", "tab", "esc")
		p.rows = nil
		p.do(p.update(listed{gen: p.gen, err: away}))
		if told("a list", false); len(p.rows) == 0 || p.failed != nil {
			t.Errorf("it ends: %v", p.failed)
		}
	})
}

// A search that failed is under way no more.
func TestSearchFails(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	p.press("요약")
	p.do(p.update(found{gen: p.gen, err: sessiondb.ErrCorrupt, contents: "요약"}))
	if !strings.Contains(p.screenshot(), sessiondb.ErrCorrupt.Error()) {
		t.Errorf("it is not told:\n%s", p.screenshot())
	}
	p.press("tab")
	if strings.Contains(p.screenshot(), "searching") {
		t.Errorf("still searching:\n%s", p.screenshot())
	}
}

// An error is told even where a change waits to be.
func TestErrorIsTold(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	p.tell(changed{})
	go p.tell(changed{sessiondb.ErrReplaced})
	for _, want := range []error{nil, sessiondb.ErrReplaced} {
		if c, ok := p.nextChange().(changed); !ok || c.err != want {
			t.Errorf("told %v, want %v", c.err, want)
		}
	}
}

// An answer that comes after something else was typed is not shown.
func TestStaleAnswers(t *testing.T) {
	p := sit(t, story(t), 80, 24)
	p.press("요약")
	old := found{rows: []row{{id: "old"}}, gen: p.gen}
	p.update(tea.WindowSizeMsg{Width: 40, Height: 10}) // a resize in mid-search
	p.press("ctrl+u", "hostile")
	p.do(p.update(old))
	if r, _ := p.current(); r.id != "evil" {
		t.Errorf("shows %q", r.id)
	}
	p.screenshot()
}

func TestSmallest(t *testing.T) {
	db := story(t)
	for _, size := range [][2]int{{1, 4}, {2, 4}, {10, 5}, {79, 6}} {
		p := sit(t, db, size[0], size[1])
		p.press("docker", "tab", "t", "x", "?", "x", "d", "n", "tab")
		p.screenshot()
	}
}

// The table in docs/browse.md is that of the program.
func TestKeysDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/browse.md")
	noError(t, err)
	if !strings.Contains(string(doc), KeyTable()) {
		t.Errorf("docs/browse.md has another table of keys than:\n%s", KeyTable())
	}
}
