package sessiondb

import (
	"context"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// where is a condition being built.
type where struct {
	conds    []string
	args     []any
	sessions []string        // the only ones, nil for all
	ids      map[string]bool // the sessions that filters name whole
}

func (w *where) add(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, args...)
}

// in lets a column be one of the values, or none of them.
func (w *where) in(column string, not bool, values []string) {
	if len(values) == 0 {
		return
	}
	op := ` IN (`
	if not {
		op = ` NOT IN (`
	}
	w.add(column+op+placeholders(len(values))+`)`, anys(values)...)
}

// narrows says that there is a condition.
func (w *where) narrows() bool { return len(w.conds) > 0 || w.sessions != nil }

func (w *where) sql() string { return strings.Join(w.conds, ` AND `) }

// limit limits a search to what the condition holds for.
func (w *where) limit(m engine.Match) engine.Match {
	m.Where, m.Args, m.Sessions = w.sql(), w.args, w.sessions
	return m
}

// searchWhere is what a search asks of a message m and its session s beside the
// text: the fields of the query, and the filters in the text. What it asks of sessions
// alone, those are looked up for once.
func searchWhere(ctx context.Context, q engine.Queryer, s SearchQuery, filters []searchql.Filter) (w where, err error) {
	var sessions where
	if sessions.ids, err = wholeIDs(ctx, q, filters); err != nil {
		return w, err
	}
	if s.Sources != nil && len(s.Sources) == 0 {
		sessions.add(`1 = 0`)
	}
	sessions.in(`s.source`, false, s.Sources)
	sessions.in(`s.source`, true, s.ExcludeSources)
	sessions.in(`s.id`, false, s.Sessions)
	w.in(`m.role`, false, s.Roles)
	w.in(`m.session_id`, true, s.ExcludeSessions)
	for i, f := range filters {
		if i != firstLike(filters, f) {
			continue
		}
		switch list := alike(filters, f); f.Field {
		case searchql.Tag:
		case searchql.Role, searchql.Tool, searchql.After, searchql.Before:
			w.filter(list)
		default:
			sessions.filter(list)
		}
	}
	if err := w.tags(ctx, q, s.Tags, filters); err != nil {
		return w, err
	}
	return w, w.name(ctx, q, sessions)
}

func firstLike(filters []searchql.Filter, f searchql.Filter) int {
	for i, g := range filters {
		if g.Field == f.Field && g.Not == f.Not {
			return i
		}
	}
	return -1
}

func alike(filters []searchql.Filter, f searchql.Filter) (out []searchql.Filter) {
	for _, g := range filters {
		if g.Field == f.Field && g.Not == f.Not {
			out = append(out, g)
		}
	}
	return out
}

// filter adds filters of one field and sign: any of them includes, each of them
// excludes.
func (w *where) filter(list []searchql.Filter) {
	any := where{ids: w.ids}
	for _, f := range list {
		any.one(f)
	}
	op := ` OR `
	if f := list[0]; f.Field == searchql.After || f.Field == searchql.Before {
		op = ` AND `
	}
	cond := `(` + strings.Join(any.conds, op) + `)`
	if list[0].Not {
		cond = `NOT COALESCE(` + cond + `, 1 = 0)`
	}
	w.add(cond, any.args...)
}

func (w *where) one(f searchql.Filter) {
	switch f.Field {
	case searchql.Source:
		w.add(`s.source = ?`, f.Value)
	case searchql.Role:
		w.add(`m.role = ?`, f.Value)
	case searchql.Tool:
		w.add(`m.tool_name = ?`, f.Value)
	case searchql.Model:
		w.add(`LOWER(s.model) LIKE LOWER(?) ESCAPE '\'`, likePart(f.Value))
	case searchql.Title:
		w.add(`LOWER(s.title) LIKE LOWER(?) ESCAPE '\'`, likePart(f.Value))
	case searchql.Session:
		if w.ids[f.Value] {
			w.add(`s.id = ?`, f.Value)
		} else {
			w.add(`s.id LIKE ? ESCAPE '\'`, likePrefix(f.Value))
		}
	case searchql.After:
		w.add(`m.timestamp >= ?`, epoch(f.Time))
	case searchql.Before:
		w.add(`m.timestamp < ?`, epoch(f.Time))
	case searchql.Is:
		w.add(`s.ended_at IS NOT NULL`)
	}
}

// likePart is a LIKE pattern, with ESCAPE '\', for what contains s.
func likePart(s string) string { return `%` + likePrefix(s) }
