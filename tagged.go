package sessiondb

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
	"github.com/sessiondb-go/sessiondb/internal/searchql"
)

// taggedSQL are all sessions of the conversations that have a tag.
const taggedSQL = `(WITH RECURSIVE tagged(id) AS (SELECT g.session_id FROM sessiondb_tags g WHERE g.tag = ?
 UNION SELECT c.id FROM tagged JOIN sessions p ON p.id = tagged.id JOIN sessions c ON c.parent_session_id = p.id AND c.id <> p.id
  WHERE ` + continuationSQL + `) SELECT id FROM tagged WHERE id IS NOT NULL)`

// wantedTag is a tag as it would be stored. What can't be one is on nothing.
func wantedTag(tag string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(validText(tag)), "#"))
}

// TaggedSessions returns the ids of all sessions of the conversations that have all
// of some tags, in order.
func (db *DB) TaggedSessions(ctx context.Context, tags ...string) (ids []string, err error) {
	defer wrap(&err, "sessions tagged %q", tags)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		ids, err = taggedSessions(ctx, q, tags)
		return err
	})
	return ids, err
}

func taggedSessions(ctx context.Context, q engine.Queryer, tags []string) ([]string, error) {
	if some, err := tagsTable.exists(ctx, q); err != nil || !some {
		return nil, err
	}
	w := inTagged(tags)
	return queryStrings(ctx, q, `SELECT c.id FROM sessions c WHERE `+w.sql()+` ORDER BY c.id`, w.args...)
}

// inTagged is the condition that the conversation of a session c has all of some tags.
func inTagged(tags []string) (w where) {
	for _, t := range tags {
		w.add(`c.id IN `+taggedSQL, wantedTag(t))
	}
	return w
}

// keepsTags is inTagged for what continues no other session, which keeps the tags
// itself.
func keepsTags(tags []string) (w where) {
	for _, t := range tags {
		w.add(`EXISTS (SELECT 1 FROM sessiondb_tags g WHERE g.session_id = c.id AND g.tag = ?)`, wantedTag(t))
	}
	return w
}

// TagsOf returns the tags of the conversations that sessions belong to, by session, of
// those that have some. An unknown session has none.
func (db *DB) TagsOf(ctx context.Context, ids ...string) (tags map[string][]string, err error) {
	defer wrap(&err, "tags of sessions")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		tags = map[string][]string{}
		if some, err := tagsTable.exists(ctx, q); err != nil || !some {
			return err
		}
		roots := make([]string, len(ids))
		for i, id := range ids {
			if roots[i], _, err = chainRoot(ctx, q, id); err != nil {
				return err
			}
		}
		kept, err := keptTags(ctx, q, roots)
		for i, id := range ids {
			if t := kept[roots[i]]; len(t) > 0 {
				tags[id] = t
			}
		}
		return err
	})
	return tags, err
}

// isTagged is the condition that the conversation of a session c has all of some tags,
// which is told of each session by itself.
func isTagged(ctx context.Context, q engine.Queryer, tags []string) (w where, err error) {
	if len(tags) == 0 {
		return w, nil
	}
	some, err := tagsTable.exists(ctx, q)
	if err != nil || !some {
		w.add(`1 = 0`)
		return w, err
	}
	for _, t := range tags {
		w.add(`EXISTS (WITH RECURSIVE up(id) AS (SELECT c.id
 UNION SELECT p.id FROM up JOIN sessions c ON c.id = up.id JOIN sessions p ON p.id = c.parent_session_id AND p.id <> c.id WHERE `+continuationSQL+`)
 SELECT 1 FROM up JOIN sessiondb_tags g ON g.session_id = up.id WHERE g.tag = ?)`, wantedTag(t))
	}
	return w, nil
}

// ofMessages is a condition on sessions c as one on messages m.
func (w where) ofMessages() (m where) {
	if w.narrows() {
		m.add(`EXISTS (SELECT 1 FROM sessions c WHERE c.id = m.session_id AND `+w.sql()+`)`, w.args...)
	}
	return m
}

// tags adds what a search asks of the tags of a conversation. The sessions that have
// them are looked up once, and not for every statement of the search.
func (w *where) tags(ctx context.Context, q engine.Queryer, tags []string, filters []searchql.Filter) error {
	tags = slices.Clone(tags)
	var not []string
	for _, f := range filters {
		if f.Field == searchql.Tag && f.Not {
			not = append(not, f.Value)
		} else if f.Field == searchql.Tag {
			tags = append(tags, f.Value)
		}
	}
	if len(tags) > 0 {
		var err error
		if w.sessions, err = taggedSessions(ctx, q, tags); err != nil {
			return err
		}
		if w.sessions == nil {
			w.add(`1 = 0`)
		}
	}
	if len(not) == 0 {
		return nil
	}
	some, err := tagsTable.exists(ctx, q)
	for _, t := range not {
		if some {
			w.add(`m.session_id NOT IN `+taggedSQL, wantedTag(t))
		}
	}
	return err
}

// andTags keeps what has all tags of the filter. Few are named one by one, and then
// not looked for among all that were active.
func (l *listing) andTags(ctx context.Context) error {
	if len(l.f.Tags) == 0 {
		return nil
	}
	some, err := tagsTable.exists(ctx, l.q)
	if err != nil || !some {
		l.and(`1 = 0`)
		return err
	}
	have, from, args := keepsTags(l.f.Tags), `sessiondb_tags t JOIN sessions c ON c.id = t.session_id WHERE t.tag = ?`, []any{wantedTag(l.f.Tags[0])}
	if l.f.Children {
		have, from, args = inTagged(l.f.Tags), `sessions c WHERE c.id IS NOT NULL`, nil
	}
	ids, err := queryStrings(ctx, l.q, `SELECT c.id FROM `+from+` AND `+have.sql()+` LIMIT ?`, append(append(args, have.args...), fewShown+1)...)
	switch {
	case len(ids) > fewShown:
		l.and(have.sql(), have.args...)
	case len(ids) == 0:
		l.and(`1 = 0`)
	default:
		l.and(`c.id IN (`+placeholders(len(ids))+`)`, anys(ids)...)
	}
	l.atOnce = len(ids) <= fewShown || l.f.Children // to ask for each of many takes long
	return err
}

// tag adds the tags of their conversations to the rows.
func (l *listing) tag(ctx context.Context, rows []ListedSession) error {
	if some, err := tagsTable.exists(ctx, l.q); err != nil || !some {
		return err
	}
	roots := make([]string, len(rows))
	for i, s := range rows {
		roots[i] = cmp.Or(s.LineageRoot, s.ID)
		if l.f.Children && s.ParentID != nil {
			var err error
			if roots[i], _, err = chainRoot(ctx, l.q, s.ID); err != nil {
				return err
			}
		}
	}
	tags, err := keptTags(ctx, l.q, roots)
	for i := range rows {
		rows[i].Tags = tags[roots[i]]
	}
	return err
}
