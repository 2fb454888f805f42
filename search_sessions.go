package sessiondb

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// wholeIDs returns the sessions that filters name whole: those do not begin the ids of
// others.
func wholeIDs(ctx context.Context, q engine.Queryer, filters []searchql.Filter) (map[string]bool, error) {
	var ids []string
	for _, f := range filters {
		if f.Field == searchql.Session {
			ids = append(ids, f.Value)
		}
	}
	out := map[string]bool{}
	return out, eachIn(ctx, q, func(r engine.Rows) error {
		var id string
		err := r.Scan(&id)
		out[id] = true
		return err
	}, `SELECT s.id FROM sessions s WHERE s.id IN`, ids)
}

// fewSessions is how many sessions are named one by one instead of being described: an
// index knows where their messages are, however common the words are.
const fewSessions = 200

// name adds a condition on sessions s. Those that can't be read do not matter where no
// hit is in them.
func (w *where) name(ctx context.Context, q engine.Queryer, sessions where) error {
	if !sessions.narrows() {
		return nil
	}
	ids := []string{}
	nameable := true
	err := eachRow(ctx, q, func(r engine.Rows) error {
		var id any // which another program may have stored as bytes
		err := r.Scan(&id)
		name, ok := id.(string)
		ids, nameable = append(ids, name), nameable && ok && utf8.ValidString(name)
		return err
	}, `SELECT s.id FROM sessions s WHERE `+sessions.sql()+` LIMIT ?`, append(slices.Clone(sessions.args), fewSessions+1)...)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	if err != nil || !nameable || len(ids) > fewSessions {
		w.add(sessions.sql(), sessions.args...)
		return nil
	}
	w.sessions = w.among(ids)
	return nil
}

// among returns those of some sessions that a search looks in.
func (w *where) among(ids []string) []string {
	if w.sessions == nil {
		return ids
	}
	asked := make(map[string]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	out := []string{}
	for _, id := range w.sessions {
		if asked[id] {
			out = append(out, id)
		}
	}
	return out
}
