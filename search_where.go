package sessiondb

import (
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// where is a condition being built.
type where struct {
	conds    []string
	args     []any
	sessions []string // the only ones, nil for all
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

// searchWhere is what a search asks of a message m and its session s beside the
// text: the fields of the query, and the filters in the text, but for the tags.
func searchWhere(s SearchQuery, filters []searchql.Filter) where {
	var w where
	if s.Sources != nil && len(s.Sources) == 0 {
		w.add(`1 = 0`)
	}
	w.in(`s.source`, false, s.Sources)
	w.in(`s.source`, true, s.ExcludeSources)
	w.in(`m.role`, false, s.Roles)
	w.in(`m.session_id`, false, s.Sessions)
	w.in(`m.session_id`, true, s.ExcludeSessions)
	for i, f := range filters {
		if f.Field != searchql.Tag && i == firstLike(filters, f) {
			w.filter(alike(filters, f))
		}
	}
	return w
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
	var any where
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
		w.add(`(s.id = ? OR s.id LIKE ? ESCAPE '\' AND NOT EXISTS (SELECT 1 FROM sessions x WHERE x.id = ?))`,
			f.Value, likePrefix(f.Value), f.Value)
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
