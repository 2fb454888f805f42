package sqlite

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// externalSQL declares the full-text tables without a copy of the text: they
// read it from the messages, through a view. Names, columns and what is indexed
// are those of schema.sql, so that a program that knows only those reads and
// writes as before. A trigger gives the text that a message had to the index,
// which could not look it up any more.
//
//go:embed external.sql
var externalSQL string

// textView shows the text that is indexed of each message.
const textView = "sessiondb_indexed_text"

// layout is a way to declare the full-text tables and what fills them.
type layout struct {
	name      engine.Layout
	keepsText bool // in each index once more
	objects   []object
}

var (
	inline   = &layout{engine.Inline, true, declared}
	external = &layout{engine.External, false, parseSchema(externalSQL)}
)

// find returns the declared object of a name.
func (l *layout) find(name string) object {
	return l.objects[slices.IndexFunc(l.objects, func(o object) bool { return o.name == name })]
}

// layout is the one that a file has, or should have again: a file keeps what it
// was given, also when a part of it was lost.
func (sh *shape) layout() *layout {
	if sh.has(textView) {
		return external
	}
	for _, index := range indexes {
		if same(sh.objects[index].sql, external.find(index).sql) {
			return external
		}
	}
	return inline
}

// makeView makes the view of the texts anew.
func (m *migration) makeView(ctx context.Context) error {
	return m.c.script(ctx, "DROP VIEW IF EXISTS "+textView+";"+m.layout.find(textView).sql)
}

// relay declares the full-text tables in another layout and fills them, in the
// transaction that is open.
func (m *migration) relay(ctx context.Context, to *layout) error {
	if err := keepTexts(ctx, m.c, m.from); err != nil {
		return err
	}
	m.layout = to
	if !to.keepsText {
		if err := m.makeView(ctx); err != nil {
			return err
		}
	}
	for _, index := range indexes {
		if err := m.rebuild(ctx, index); err != nil {
			return err
		}
	}
	if to.keepsText {
		if err := m.c.script(ctx, "DROP VIEW IF EXISTS "+textView); err != nil {
			return err
		}
	}
	_, err := m.c.exec(ctx, "DELETE FROM state_meta WHERE key = ?", staleKey)
	return err
}

// strangers are the triggers and views of other programs that use the full-text
// tables, and may count on their copy of the text.
func (sh *shape) strangers() (names []string) {
	for _, o := range sh.objects {
		if o.kind != "trigger" && o.kind != "view" || o.name == textView || !strings.Contains(o.sql, wordIndex) {
			continue
		}
		if !slices.ContainsFunc(declared, func(d object) bool { return d.name == o.name }) {
			names = append(names, o.kind+" "+o.name)
		}
	}
	slices.Sort(names)
	return names
}
