package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// lostSession is the session of messages of which nobody knows whose they were.
const lostSession = "recovered"

// partial is what is known about a row that could not be read as a whole.
type partial struct {
	table *salvage
	id    int64
	cut   bool // part of the row itself was read
	known map[int]any
}

// assemble puts rows together from what is known about them. A session is worth
// it if its id is known, a message if there is some of its text.
func (r *recovery) assemble(ctx context.Context) error {
	return r.batched(ctx, func(step func() error) error {
		for _, t := range r.tables {
			if err := r.assembleTable(ctx, t, step); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *recovery) assembleTable(ctx context.Context, t *salvage, step func() error) error {
	rows, err := r.c.query(ctx, `SELECT id, col, value, EXISTS (SELECT 1 FROM temp.cuts c WHERE c.tbl = t.tbl AND c.id = t.id)
 FROM temp.traces t WHERE tbl = ? ORDER BY id, col`, t.Name)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var p *partial
	flush := func() error {
		if p == nil {
			return nil
		}
		return firstError(r.place(ctx, p), step())
	}
	for rows.Next() {
		var id int64
		var col int
		var v any
		var cut bool
		if err := rows.Scan(&id, &col, &v, &cut); err != nil {
			return err
		}
		if p == nil || p.id != id {
			if err := flush(); err != nil {
				return err
			}
			p = &partial{table: t, id: id, cut: cut, known: map[int]any{}}
		}
		p.known[col] = v
	}
	return firstError(rows.Err(), flush())
}

// place writes a row that was put together, or counts it as lost.
func (r *recovery) place(ctx context.Context, p *partial) error {
	t := p.table
	if there, err := r.there(ctx, t, p.id); there || err != nil {
		return err
	}
	switch {
	case t.Name == "messages" && r.message(p):
	case t.Name == "sessions" && p.text("id") != "":
		p.fill("source", sessiondb.UnknownSource)
	default:
		t.Lost++
		return nil
	}
	part := false
	for i, c := range t.columns {
		if v, ok := p.known[tracePart+i]; ok && p.known[i] == nil {
			p.known[i], part = v, true
		}
		if c.required && p.known[i] == nil && i != t.id {
			p.known[i] = c.filler()
		}
	}
	names, values := p.columns()
	n, err := r.c.exec(ctx, t.statement(names), values...)
	if err != nil {
		return err
	}
	if n == 0 {
		t.Lost++
		return nil
	}
	t.Rows++
	if p.cut || part {
		t.Cut++
	} else {
		t.Rebuilt++
	}
	return nil
}

// message fills in what is not known of a message and says whether it is worth
// keeping.
func (r *recovery) message(p *partial) bool {
	words, found := p.known[traceWords].(string)
	if !found && !p.cut {
		return false
	}
	if found {
		p.split(words)
	}
	switch {
	case p.text("tool_calls") != "":
		p.fill("role", "assistant")
	case p.text("tool_name") != "":
		p.fill("role", "tool")
	}
	p.fill("role", "unknown")
	p.fill("session_id", lostSession)
	return true
}

// split takes the text of a message out of what the full-text index holds:
// content, tool name and tool calls with spaces between them. Where the message
// itself was read in part, that must be how it begins.
func (p *partial) split(words string) {
	c := p.table.column("content")
	if content, ok := p.known[c].(string); ok || p.has(c) {
		rest, fits := strings.CutPrefix(words, content+" ")
		if name, calls, ok := strings.Cut(rest, " "); ok && fits {
			p.fillText("tool_name", name)
			p.fillText("tool_calls", calls)
		}
		return
	}
	if part, ok := p.known[tracePart+c].(string); ok && !strings.HasPrefix(words, part) {
		return
	}
	content, name, calls := divide(words)
	p.known[c] = content
	p.fillText("tool_name", name)
	p.fillText("tool_calls", calls)
}

// divide splits indexed text where nothing of it is known: tool calls are a
// list of objects at the end, a tool's name is one word.
func divide(words string) (content, name, calls string) {
	rest := words
	for from, tries := 0, 0; tries < 100; tries++ {
		i := strings.Index(words[from:], " [{")
		if i < 0 {
			break
		}
		if from += i + 1; json.Valid([]byte(words[from:])) {
			rest, calls = words[:from], words[from:]
			break
		}
	}
	rest = strings.TrimSuffix(rest, " ")
	i := strings.LastIndexByte(rest, ' ')
	if i < 0 {
		return rest, "", calls
	}
	return rest[:i], rest[i+1:], calls
}

func (t *salvage) column(name string) int {
	return slices.IndexFunc(t.columns, func(c salvaged) bool { return c.name == name })
}

func (p *partial) has(col int) bool { _, ok := p.known[col]; return ok }

func (p *partial) text(column string) string {
	s, _ := p.known[p.table.column(column)].(string)
	return s
}

// fill sets a column that is not known.
func (p *partial) fill(column string, v any) {
	if i := p.table.column(column); i >= 0 && p.known[i] == nil {
		p.known[i] = v
	}
}

func (p *partial) fillText(column, s string) {
	if i := p.table.column(column); i >= 0 && s != "" && !p.has(i) {
		p.known[i] = s
	}
}

// columns are the columns of the row that are known; the others get their
// default.
func (p *partial) columns() (names []string, values []any) {
	t := p.table
	if t.id < 0 && t.idName != "" {
		names, values = append(names, t.idName), append(values, p.id)
	}
	for i, c := range t.columns {
		v := p.known[i]
		if i == t.id {
			v = p.id
		}
		if v != nil && !c.computed {
			names, values = append(names, quoted(c.name)), append(values, v)
		}
	}
	return names, values
}
