package browse

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

func TestTags(t *testing.T) {
	db := story(t)
	for _, id := range []string{"second", "korean", "arabic"} {
		_, err := db.Tag(t.Context(), id, []string{"ops"}, nil)
		noError(t, err)
	}
	p := sit(t, db, 120, 24)
	rows := func() string {
		var ids []string
		for _, r := range p.rows {
			ids = append(ids, r.id)
		}
		return strings.Join(ids, " ")
	}
	if shown := p.screenshot(); strings.Count(shown, "· #ops") != 3 {
		t.Errorf("the list does not show the tags:\n%s", shown)
	}
	for _, w := range []struct{ typed, want string }{
		{"tag:ops", "arabic korean second"}, {"tag:#Ops source:telegram", "arabic korean"}, {"tag:op", ""}, {"docker tag:ops", "arabic korean second"},
		{"docker -tag:ops", "evil"}, {"move", "second"},
	} {
		p.press("ctrl+u", w.typed)
		if got := rows(); got != w.want {
			t.Errorf("%q: %s, not %s", w.typed, got, w.want)
		}
		if w.typed != "docker -tag:ops" && w.want != "" && !strings.Contains(p.position(), " · #ops") {
			t.Errorf("%q: tags of a row are not shown: %s", w.typed, p.position())
		}
	}
	// What is shown of a filter goes when it no longer belongs there.
	p.press("ctrl+u", "tag:ops", "tab", "l", " #Later")
	p.shows("tag-120")
	p.press("enter")
	if tags, err := db.Tags(t.Context(), "arabic"); err != nil || fmt.Sprint(tags) != "[later ops]" || !strings.Contains(p.screenshot(), "#later #ops") {
		t.Errorf("%v, %v, and shown:\n%s", tags, err, p.screenshot())
	}
	p.press("l", "ctrl+u", "enter")
	if tags, err := db.Tags(t.Context(), "arabic"); err != nil || len(tags) > 0 || rows() != "korean second" {
		t.Errorf("%v, %v, shown: %s", tags, err, rows())
	}
	p.press("l", "ctrl+u", "-x", "enter")
	if shown := p.screenshot(); !strings.Contains(shown, "it is one word") {
		t.Errorf("a mistake is not told:\n%s", shown)
	}
	p.press("l", "ctrl+u", "esc")
	if tags, err := db.Tags(t.Context(), "korean"); err != nil || fmt.Sprint(tags) != "[ops]" {
		t.Errorf("%v, %v", tags, err)
	}
}

// A list of a filter goes on as one of all does.
func TestTagsByPages(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	noError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for i := range pageSize + 20 {
		id, err := db.CreateSession(t.Context(), sessiondb.NewSession{ID: fmt.Sprintf("s%03d", i), Source: "cli"})
		noError(t, err)
		_, err = db.Tag(t.Context(), id, []string{"all"}, nil)
		noError(t, err)
	}
	p := sit(t, db, 80, 24)
	p.press("tag:all")
	if len(p.rows) != pageSize || p.whole {
		t.Errorf("%d rows, whole: %v", len(p.rows), p.whole)
	}
	p.press("tab", "G")
	if len(p.rows) != pageSize+20 || !p.whole {
		t.Errorf("then %d rows, whole: %v", len(p.rows), p.whole)
	}
}
