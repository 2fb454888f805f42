package sqlite

import (
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// fewMessages is how many messages a search may look in for them to be listed first,
// so that an index is asked for those alone. By time it is a part of that: a page of
// what is common is found on a short walk.
const (
	fewMessages = 20_000
	timedPart   = 5
)

// oneByOne is how many messages an index is asked for one by one, where they lie far
// apart: each costs it about as much as to pass over a thousand others.
const oneByOne = 64

// idSet is some messages: all from one id to another, or the listed ones of them.
type idSet struct {
	idRange
	list string // of JSON; empty for all
	n    int    // how many are listed
}

func (s *idSet) listed() bool { return s != nil && s.list != "" }

// all is a query for the listed ids.
func (s *idSet) all() fragment {
	return fragment{`SELECT value AS id FROM json_each(?)`, []any{s.list}}
}

// between adds the range of a set to a query that ends in a condition.
func (s *idSet) between(f fragment, id string) fragment {
	if s == nil {
		return f
	}
	return fragment{f.sql + ` AND ` + id + ` BETWEEN ? AND ?`, join(f.args, []any{s.first, s.last})}
}

// limit adds a set to a query that ends in a condition. The plus sign keeps SQLite
// from asking a full-text index once for each id.
func (s *idSet) limit(f fragment, id string) fragment {
	if f = s.between(f, id); !s.listed() {
		return f
	}
	return fragment{f.sql + ` AND +` + id + ` IN (SELECT value FROM json_each(?))`, join(f.args, []any{s.list})}
}

// find is a query for the ids of a set that an index finds.
func (s *idSet) find(index, expr string) fragment {
	if s.scattered() && !strings.Contains(expr, `" *`) { // all words with a beginning would be gathered each time
		return fragment{`SELECT k.value AS id FROM json_each(?) k CROSS JOIN ` + index + ` ON ` + index + `.rowid = k.value WHERE ` + index + ` MATCH ?`,
			[]any{s.list, expr}}
	}
	return s.limit(fragment{matchSQL(index), []any{expr}}, index+`.rowid`)
}

// scattered says that a set is few messages far apart.
func (s *idSet) scattered() bool {
	return s.listed() && s.n <= oneByOne && s.last-s.first > int64(1000*s.n)
}

// listIDs reads the ids of a query, or returns nil where there are more than so many.
func (r *matching) listIDs(set fragment, most int) (*idSet, error) {
	var s idSet
	err := r.q.QueryRow(r.ctx, `SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), -1), json_group_array(id) FROM (SELECT id FROM (`+set.sql+`) LIMIT ?)`,
		join(set.args, []any{most + 1})...).Scan(&s.n, &s.first, &s.last, &s.list)
	if s.n > most || err != nil {
		return nil, err
	}
	return &s, nil
}

// fewest is how many messages are few in the order of the search.
func (r *matching) fewest() int {
	if r.m.Order == engine.ByRank || r.m.Count {
		return r.store.few
	}
	return r.store.few / timedPart
}

// narrow lists the messages to look at where the sessions or the times asked for tell
// that they are few. Of more it notes between which ids they lie, for a count of some
// sessions: those that were active at one time have a small part of a store.
func (r *matching) narrow() error {
	named := fragment{`m.session_id IN (SELECT value FROM json_each(?))`, r.sessionArgs()}
	if r.m.Sessions == nil {
		if named = span(r.m.Query.Filters); named.sql == "" || !r.store.activity.Load() {
			return nil
		}
	}
	many, err := r.moreThan(fragment{`SELECT 1 FROM messages m WHERE ` + named.sql, named.args}, r.fewest())
	if err != nil {
		return err
	}
	if !many {
		r.few, err = r.listIDs(fragment{`SELECT m.id FROM messages m CROSS JOIN sessions s ON s.id = m.session_id WHERE ` + named.sql + r.where(),
			join(named.args, r.whereArgs())}, r.fewest())
		return err
	}
	if r.m.Count && r.m.Sessions != nil {
		r.few = &idSet{}
		err = r.q.QueryRow(r.quick, `SELECT COALESCE(MIN(m.id), 0), COALESCE(MAX(m.id), -1) FROM messages m WHERE `+named.sql, named.args...).
			Scan(&r.few.first, &r.few.last)
	}
	return err
}

// readWithin reads what the indexes find of each term among the listed messages: more
// than one query asks for it.
func (c *compiler) readWithin(root searchql.Node) error {
	if !c.within.listed() {
		return nil
	}
	return walk(root, func(t *searchql.Term) error {
		first := &c.terms[t].sources[0]
		if first.index == "" {
			return nil
		}
		found, err := c.listIDs(c.find(first.index, first.expr), c.within.n)
		if err == nil {
			first.query = found.all()
		}
		return err
	})
}

// span is a condition that holds for all messages m of the times that filters let
// pass, and for few others.
func span(filters []searchql.Filter) fragment {
	var conds []string
	var args []any
	for _, f := range filters {
		switch {
		case f.Not:
		case f.Field == searchql.After:
			conds, args = append(conds, `m.timestamp >= ?`), append(args, f.Time.Unix())
		case f.Field == searchql.Before:
			conds, args = append(conds, `m.timestamp < ?`), append(args, f.Time.Add(time.Second).Unix())
		}
	}
	return fragment{strings.Join(conds, ` AND `), args}
}
